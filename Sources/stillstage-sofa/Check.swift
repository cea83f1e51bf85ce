// SPDX-License-Identifier: Apache-2.0

/// The values that the checks compute.
struct CheckedContent {
  var sampleRate: Double
  /// The ratio of the largest to the smallest energy of an impulse response.
  var energyRatio: Double
  /// Source positions in the listener's frame: x front, y left, z up, in metres.
  var positions: [SIMD3<Double>]
  var notes: [String]
}

/// The limits for the content of a file.
enum Limit {
  static let measurements = 65_536
  static let samples = 16...65_536
  /// The maximum number of samples in all impulse responses: 128 MiB as 32-bit floats.
  static let totalSamples = 1 << 25
  static let sampleRate = 8_000.0...384_000.0
  static let radius = 0.05...100.0
  static let energyRatio = 1e6
}

/// Checks the content of a file.
///
/// - Throws: `Refusal` for the first check that fails.
func checked(_ file: SofaFile) throws(Refusal) -> CheckedContent {
  try checkConvention(file)
  try checkDimensions(file)
  let rate = try checkedRate(file)
  try checkDelays(file)
  let ratio = try checkedEnergyRatio(file)
  var notes: [String] = []
  let positions = try listenerPositions(file, notes: &notes)
  if file.delays.count == 0 { notes.append("Data.Delay is missing; zero delays are assumed") }
  return CheckedContent(sampleRate: rate, energyRatio: ratio, positions: positions, notes: notes)
}

private func checkConvention(_ file: SofaFile) throws(Refusal) {
  let convention = file.attribute("SOFAConventions") ?? "missing"
  try require(
    convention == "SimpleFreeFieldHRIR",
    "SOFAConventions is \(convention); only SimpleFreeFieldHRIR is supported")
  let type = file.attribute("DataType") ?? "missing"
  try require(type == "FIR", "DataType is \(type); only FIR is supported")
}

private func checkDimensions(_ file: SofaFile) throws(Refusal) {
  let (m, r, n) = (file.measurements, file.receivers, file.samples)
  try require(r == 2, "its number of receivers is R = \(r); a set needs 2")
  try require(
    (1...Limit.measurements).contains(m),
    "it has M = \(m) measurements; 1 to \(Limit.measurements) are supported")
  try require(
    Limit.samples.contains(n),
    "its impulse responses have N = \(n) samples; \(Limit.samples.lowerBound) to "
      + "\(Limit.samples.upperBound) are supported")
  try require(
    m * r * n <= Limit.totalSamples,
    "M x R x N = \(m) x \(r) x \(n) is \(m * r * n) samples; at most \(Limit.totalSamples) are "
      + "supported")
  try require(
    file.impulseResponses.count == m * r * n,
    "Data.IR has \(file.impulseResponses.count) elements; M x R x N = \(m) x \(r) x \(n) "
      + "requires \(m * r * n)")
}

private func checkedRate(_ file: SofaFile) throws(Refusal) -> Double {
  let rates = file.samplingRates
  try require(
    rates.count == 1 || rates.count == file.measurements,
    "Data.SamplingRate has \(rates.count) elements; 1 or \(file.measurements) (M) are expected")
  let units = file.samplingRates.attribute("Units")?.lowercased() ?? "hertz"
  try require(
    units.isEmpty || units.hasPrefix("hertz") || units == "hz",
    "Data.SamplingRate is in \(units); hertz is expected")
  let rate = rates[0]
  try require(
    rate.isFinite && Limit.sampleRate.contains(rate),
    "Data.SamplingRate is \(rate) Hz; 8000 to 384000 are supported")
  try require(
    rates.buffer.allSatisfy { $0 == rates.buffer[0] },
    "Data.SamplingRate differs between measurements")
  return rate
}

private func checkDelays(_ file: SofaFile) throws(Refusal) {
  let (delays, m) = (file.delays, file.measurements)
  try require(
    delays.count == 0 || delays.count == 2 || delays.count == 2 * m,
    "the length of Data.Delay is \(delays.count); 2 (R) or \(2 * m) (M x R) is expected")
  for index in 0..<delays.count {
    let delay = delays[index]
    try require(
      delay.isFinite, "element \(index) of Data.Delay is \(delay); a finite number is expected")
    try require(
      delay >= 0 && delay + Double(file.samples) <= Double(Limit.samples.upperBound),
      "element \(index) of Data.Delay is \(delay) samples; 0 to "
        + "\(Limit.samples.upperBound - file.samples) are supported")
  }
  let longest = Int(delays.buffer.max() ?? 0)
  let total = m * 2 * (file.samples + longest)
  try require(
    total <= Limit.totalSamples,
    "with delays of up to \(longest) samples, the set has \(total) samples; at most "
      + "\(Limit.totalSamples) are supported")
}

private func checkedEnergyRatio(_ file: SofaFile) throws(Refusal) -> Double {
  let values = file.impulseResponses.buffer
  let taps = file.samples
  var (smallest, largest, smallestIndex) = (Double.infinity, 0.0, 0)
  for response in 0..<file.measurements * 2 {
    var energy = 0.0
    for index in response * taps..<(response + 1) * taps {
      let value = Double(values[index])
      energy += value * value
    }
    // The squares of 32-bit floats do not overflow 64-bit floats, so the sum is finite unless a
    // sample is not.
    try require(
      energy.isFinite,
      "Data.IR contains a number that is not finite, in measurement \(response / 2), receiver "
        + "\(response % 2)\(repackHint)")
    largest = max(largest, energy)
    if energy < smallest { (smallest, smallestIndex) = (energy, response) }
  }
  let ratio = largest / smallest
  try require(
    ratio <= Limit.energyRatio,
    "the energies of its impulse responses range from \(smallest) (measurement "
      + "\(smallestIndex / 2), receiver \(smallestIndex % 2)) to \(largest); a ratio of at most "
      + "\(Limit.energyRatio) is supported\(largest > 1e12 ? repackHint : "")")
  return ratio
}

/// Advice for numbers that are huge or not finite. libmysofa misreads arrays that are compressed
/// without the shuffle filter.
private let repackHint =
  "; if other programs can read the file, repack it: h5repack -f SHUF -f GZIP=4 IN OUT"
