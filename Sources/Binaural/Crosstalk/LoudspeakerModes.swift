// SPDX-License-Identifier: Apache-2.0

private import CRealtime
internal import SignalProcessing

/// The responses of the ears to two loudspeakers in phase (sum) and in antiphase (difference).
struct LoudspeakerModes {
  /// The width of a bin, in Hz.
  let binWidth: Double
  private(set) var sum: [Complex]
  private(set) var difference: [Complex]

  /// Computes the modes from two responses, each averaged over both ears: `near`, to the
  /// loudspeaker on the ear's own side, and `far`, to the other loudspeaker. Advances both modes by
  /// the delay of `near`.
  init(_ plant: LoudspeakerPlant) {
    binWidth = plant.binWidth
    let bins = 0..<plant.bins
    let near = bins.map { (plant.values[0][0][$0] + plant.values[1][1][$0]) * 0.5 }
    let far = bins.map { (plant.values[0][1][$0] + plant.values[1][0][$0]) * 0.5 }
    var slope = Complex(0)
    for k in Int(300 / binWidth)..<Int(6000 / binWidth) where k + 1 < bins.upperBound {
      slope += near[k + 1] * near[k].conjugate
    }
    let early = -slope.angle
    let turns = bins.map { Complex(angle: early * Double($0)) }
    sum = bins.map { (near[$0] + far[$0]) * turns[$0] }
    difference = bins.map { (near[$0] + far[$0] * -1) * turns[$0] }
  }

  /// Replaces the modes below a frequency with those of a head that is small relative to the
  /// wavelength.
  ///
  /// For such a head, the sum has a constant magnitude, and the magnitude of the difference is
  /// proportional to frequency. The levels and delays of both modes come from the octave above
  /// `frequency`. The transition extends from 0.75 to 1.5 times `frequency`.
  mutating func extend(below frequency: Double) {
    let octave = Int(frequency / binWidth)..<Int(2 * frequency / binWidth)
    let count = Double(octave.count)
    func square(_ value: Complex, _ k: Int, _ power: Double) -> Double {
      power == 0 ? value.squaredMagnitude : value.squaredMagnitude / Double(k * k)
    }
    let level = (octave.reduce(0) { $0 + square(sum[$1], $1, 0) } / count).squareRoot()
    let rise = (octave.reduce(0) { $0 + square(difference[$1], $1, 1) } / count).squareRoot()
    let back = Complex(0, -1)
    let sumDelay = octave.reduce(0) { $0 + sum[$1].angle / Double($1) } / count
    let delay = octave.reduce(0) { $0 + (difference[$1] * back).angle / Double($1) } / count
    for k in 0..<sum.count {
      let share = octaveStep(Double(k) * binWidth, from: 0.75 * frequency, to: 1.5 * frequency)
      guard share < 1 else { break }
      let small = Complex(angle: sumDelay * Double(k)) * level
      let steep = Complex(0, 1) * Complex(angle: delay * Double(k)) * (rise * Double(k))
      sum[k] = sum[k] * share + small * (1 - share)
      difference[k] = difference[k] * share + steep * (1 - share)
    }
  }

  /// Above 4 kHz, averages the modes over a sixth of an octave, because finer detail there is
  /// specific to an individual ear. The averaging fades in from 2 to 4 kHz.
  mutating func smooth() {
    sum = smoothed(sum)
    difference = smoothed(difference)
  }

  private func smoothed(_ values: [Complex]) -> [Complex] {
    var sums = [Complex(0)]
    for value in values { sums.append(sums[sums.count - 1] + value) }
    return values.indices.map { k in
      let share = octaveStep(Double(k) * binWidth, from: 2000, to: 4000)
      guard share > 0 else { return values[k] }
      let low = Int((Double(k) * 0.9439).rounded())
      let high = min(values.count - 1, Int((Double(k) * 1.0595).rounded()))
      let mean = (sums[high + 1] + sums[low] * -1) * (1 / Double(high + 1 - low))
      return values[k] * (1 - share) + mean * share
    }
  }

  /// Divides the sum and the difference by their mean level and their common colour. Returns the
  /// colour in each bin.
  ///
  /// The colour is the RMS amplitude of the two modes relative to the mean level, smoothed over a
  /// third of an octave and constant above 16 kHz, with minimum phase. Its mean power from 200 Hz
  /// to 8 kHz is about 1.
  ///
  /// - Parameter limit: the largest deviation of the colour from the mean level, in dB.
  mutating func takeColour(limit: Double) -> [Complex] {
    let power = sum.indices.map { (sum[$0].squaredMagnitude + difference[$0].squaredMagnitude) / 2 }
    let band = Int(200 / binWidth)...min(power.count - 1, Int(8000 / binWidth))
    let mean = max(1e-20, band.reduce(0) { $0 + power[$1] } / Double(band.count))
    let range = realtime_exp(limit / 10 * realtime_log(10))
    let top = min(power.count - 1, Int(16000 / binWidth))
    let smooth = power.indices.map { k -> Double in
      let centre = min(k, top)
      let low = Int((Double(centre) * 0.891).rounded())
      let high = min(power.count - 1, max(low, Int((Double(centre) * 1.122).rounded())))
      let part = power[low...high].reduce(0, +) / Double(high - low + 1) / mean
      return min(range, max(1 / range, part))
    }
    let colour = minimumPhaseResponse(magnitude: smooth.map { $0.squareRoot() })
    let scale = 1 / mean.squareRoot()
    for k in sum.indices {
      let inverse = colour[k].conjugate * (scale / colour[k].squaredMagnitude)
      sum[k] = sum[k] * inverse
      difference[k] = difference[k] * inverse
    }
    return colour
  }
}
