// SPDX-License-Identifier: Apache-2.0

private import Ambisonics
private import CRealtime
private import SignalProcessing
private import Synchronization

/// Designs the filters of a binaural decoder from an HRTF set.
public struct DecoderDesign: Sendable {
  /// The method that projects the set's responses onto the ambisonic channels.
  public enum Method: String, Sendable, CaseIterable {
    /// A least-squares fit to the complex responses up to 1.5 kHz and, after a crossfade of half an
    /// octave, to the magnitudes (Schoerkhuber, Zaunschirm, Hoeldrich, "Binaural rendering of
    /// Ambisonic signals via magnitude least squares", DAGA 2018).
    case magnitudeLeastSquares = "magls"
    /// A least-squares fit to the complex responses at all frequencies.
    case leastSquares = "ls"
    /// `magnitudeLeastSquares`, constrained so that the covariance of the ear signals in a diffuse
    /// field matches that of the set (`EarCoefficients.constrained(to:)`).
    case covarianceConstrained = "magls-cov"
  }

  /// What the design does with the set's own spectral colour.
  public enum Equalisation: String, Sendable, CaseIterable {
    /// The colour is kept.
    case none
    /// A minimum-phase filter common to both ears makes the set's diffuse field approximately flat
    /// from 100 Hz to 16 kHz.
    case diffuse
  }

  public var method: Method
  /// The ambisonic order, 1 to 7.
  public var order: Int
  public var equalisation: Equalisation

  /// The frequency in Hz at which magnitude least squares begins to fit the magnitudes. Lateral
  /// localisation relies mainly on interaural phase differences below this frequency and on
  /// interaural level differences above it.
  static let cutOn = 1500.0
  /// The width of the crossfade from complex responses to magnitudes, in octaves, beginning at
  /// `cutOn`.
  static let blend = 0.5

  public init(
    method: Method = .magnitudeLeastSquares, order: Int, equalisation: Equalisation = .none
  ) {
    precondition((1...SphericalHarmonics.maximumOrder).contains(order))
    self.method = method
    self.order = order
    self.equalisation = equalisation
  }

  /// Returns the filters for a set that was prepared for the playback rate and normalised in level.
  ///
  /// In every bin, a gain from -20 to 20 dB matches the decoder's energy in the diffuse field to
  /// that of the set after `equalisation`.
  ///
  /// - Parameter isCancelled: polled during the design, on several threads; return true to stop.
  /// - Throws: `HRTFError.tooFewDirections` if the projection cannot be computed, and
  ///   `HRTFError.interrupted` after a cancellation.
  public func filters(
    for set: HRTFSet, isCancelled: @escaping @Sendable () -> Bool = { false }
  ) throws(HRTFError) -> BinauralFilters {
    let taps = filterTaps(set)
    let size = DirectionalResponses.transformSize(taps: taps)
    var responses = try Self.responses(of: set, size: size, isCancelled)
    if equalisation == .diffuse { Self.flatten(&responses) }
    let delay = responses.commonDelay
    responses.advance(by: delay)
    guard
      let projection = HarmonicProjection(
        order: order, directions: responses.directions, weights: responses.weights,
        lanes: responses.lanes)
    else {
      throw .tooFewDirections(
        path: set.path ?? set.name, count: set.directions.count, order: order)
    }
    var coefficients = solve(responses, projection, isCancelled)
    if isCancelled() { throw .interrupted }
    match(&coefficients, to: responses)
    let filters = finish(
      coefficients, responses, taps: taps, delay: delay + BinauralFilters.delaySeconds)
    return set.isMirrored ? filters.mirrored() : filters
  }

  /// Returns the set's responses with gaps filled and every direction weighted by the area that it
  /// represents. Thins out large sets to limit the memory use.
  ///
  /// - Throws: `HRTFError.interrupted` if `isCancelled` returned true.
  static func responses(
    of set: HRTFSet, size: Int, _ isCancelled: () -> Bool
  ) throws(HRTFError) -> DirectionalResponses {
    // `GapFilling` may add up to 1000 directions.
    let most = max(400, HRTFLimit.responseValues / (size / 2 + 1) - 1000)
    let set = set.thinned(to: most)
    let areas = SphericalVoronoi(set.directions).areas
    if isCancelled() { throw .interrupted }
    var filled = GapFilling.fill(
      DirectionalResponses(
        impulseResponses: set.impulseResponses, taps: set.taps, directions: set.directions,
        weights: HRTFSet.areaWeights(areas, limitingCaps: true), sampleRate: set.sampleRate,
        size: size), isCancelled)
    if isCancelled() { throw .interrupted }
    let isWhole = filled.directions.count == set.directions.count
    filled.weights = HRTFSet.areaWeights(
      isWhole ? areas : SphericalVoronoi(filled.directions).areas, limitingCaps: false)
    return filled
  }

  /// Returns the length of the filters, rounded up to a multiple of 64. The usual length is 512
  /// taps at 48 kHz and is proportional to the sample rate. If the responses need more than 1.25
  /// times the usual length, the filters are as long as the responses need.
  func filterTaps(_ set: HRTFSet) -> Int {
    let usual = set.sampleRate * 512 / 48000
    let needed = Double(set.effectiveTaps) + BinauralFilters.delaySeconds * set.sampleRate
    return Int(((needed > 1.25 * usual ? needed : usual) / 64).rounded(.up)) * 64
  }

  /// Returns the coefficients of all bins. The bins below `cutOn` (all bins for `leastSquares`) are
  /// fitted to the complex responses, and the bins above the crossfade to the magnitudes. The
  /// result is incomplete after a cancellation.
  private func solve(
    _ responses: DirectionalResponses, _ projection: HarmonicProjection,
    _ isCancelled: @escaping @Sendable () -> Bool
  ) -> [EarCoefficients] {
    let bins = responses.bins
    let lastComplex =
      method == .leastSquares ? bins : min(bins, max(2, Int(Self.cutOn / responses.binWidth)))
    let (left, right) = both { ear in
      (0..<lastComplex).map { k in
        isCancelled() ? [] : projection.project(responses, bin: k, ear: ear)
      }
    }
    guard !isCancelled() else { return [] }
    let complex = zip(left, right).map { EarCoefficients(left: $0, right: $1) }
    let advance = Self.phaseAdvance(complex, responses)
    let width = responses.binWidth
    let (leftAbove, rightAbove) = both { ear in
      var previous = ear == 0 ? left[lastComplex - 1] : right[lastComplex - 1]
      return (lastComplex..<bins).map { k in
        guard !isCancelled() else { return [] }
        let octaves = realtime_log(Double(k) * width / Self.cutOn) / realtime_log(2)
        previous = projection.projectMagnitudes(
          responses, bin: k, ear: ear,
          following: .init(
            previous: previous, advance: advance, share: min(1, max(0, octaves / Self.blend))))
        return previous
      }
    }
    return complex + zip(leftAbove, rightAbove).map { EarCoefficients(left: $0, right: $1) }
  }

  private func both(
    _ body: @escaping @Sendable (_ ear: Int) -> [[Complex]]
  ) -> ([[Complex]], [[Complex]]) {
    let results = Mutex<[[[Complex]]]>([[], []])
    withoutActuallyEscaping(body) { body in
      concurrently(2) { ear in
        let result = body(ear)
        results.withLock { $0[ear] = result }
      }
    }
    return results.withLock { ($0[0], $0[1]) }
  }

  /// Matches the energy in the diffuse field to that of `responses` in every bin, with a gain from
  /// -20 to 20 dB. For `covarianceConstrained`, also matches the covariance of the ears.
  private func match(_ coefficients: inout [EarCoefficients], to responses: DirectionalResponses) {
    for k in coefficients.indices {
      let wanted = responses.diffuseCovariance(bin: k)
      let gain = ((wanted.left + wanted.right) / max(coefficients[k].energy, 1e-20)).squareRoot()
      coefficients[k] = coefficients[k].scaled(by: min(10, max(0.1, gain)))
      if method == .covarianceConstrained {
        coefficients[k] = coefficients[k].constrained(to: wanted)
      }
    }
  }

  /// Returns the mean phase advance of the omnidirectional channel from bin to bin just below
  /// `cutOn`, as a complex number of magnitude 1. Above `cutOn`, the phases continue with this
  /// advance (Hold, Meyer-Kahlen, Pulkki, "Magnitude-least-squares binaural ambisonic rendering
  /// with phase continuation", DAGA 2023).
  private static func phaseAdvance(
    _ coefficients: [EarCoefficients], _ responses: DirectionalResponses
  ) -> Complex {
    let count = max(5, Int(200 / responses.binWidth))
    var sum = Complex(0)
    for k in max(1, coefficients.count - count)..<coefficients.count {
      let (now, before) = (coefficients[k], coefficients[k - 1])
      sum += now.left[0] * before.left[0].conjugate
      sum += now.right[0] * before.right[0].conjugate
    }
    return Complex(angle: sum.angle)
  }

  /// Transforms the coefficients to filters for SN3D channels, delayed by `delay` seconds so that
  /// they are causal.
  private func finish(
    _ coefficients: [EarCoefficients], _ responses: DirectionalResponses, taps: Int, delay: Double
  ) -> BinauralFilters {
    let channels = SphericalHarmonics.channelCount(order: order)
    let fft = RealFFT(size: responses.size, batch: 2)
    let re = AlignedFloats(count: fft.bins * 2)
    let im = AlignedFloats(count: fft.bins * 2)
    let time = AlignedFloats(count: responses.size * 2)
    var ears = [[[Float]]](repeating: [], count: 2)
    for c in 0..<channels {
      let scale = SphericalHarmonics.n3dOverSN3D(channel: c)
      for k in 0..<fft.bins {
        let turn = Complex(angle: -2 * .pi * Double(k) * responses.binWidth * delay) * scale
        for (ear, value) in [coefficients[k].left[c], coefficients[k].right[c]].enumerated() {
          let shifted = value * turn
          re.pointer[2 * k + ear] = Float(shifted.re)
          im.pointer[2 * k + ear] = Float(shifted.im)
        }
      }
      fft.inverse(real: re.pointer, imaginary: im.pointer, time: time.pointer)
      for ear in 0...1 {
        ears[ear].append(
          Self.faded((0..<taps).map { time.pointer[2 * $0 + ear] }, responses.sampleRate))
      }
    }
    return BinauralFilters(
      order: order, sampleRate: responses.sampleRate, left: ears[0], right: ears[1])
  }

  /// Fades the filter in over 1/3 ms and out over at most 2/3 ms, each with half a Hann window.
  private static func faded(_ filter: [Float], _ sampleRate: Double) -> [Float] {
    var filter = filter
    let rise = Int((sampleRate / 3000).rounded())
    let fall = min(2 * rise, filter.count / 8)
    for i in 0..<rise {
      filter[i] *= Float(0.5 - 0.5 * realtime_cos(.pi * Double(i) / Double(rise)))
    }
    for i in 0..<fall {
      let at = filter.count - 1 - i
      filter[at] *= Float(0.5 - 0.5 * realtime_cos(.pi * Double(i + 1) / Double(fall + 1)))
    }
    return filter
  }

  /// Flattens the diffuse field of the responses from 100 Hz to 16 kHz, with at most 15 dB of gain
  /// or attenuation. Below and above this band, the gain is constant.
  static func flatten(_ responses: inout DirectionalResponses) {
    let energy = (0..<responses.bins).map { responses.diffuseEnergy(bin: $0) / 2 }
    let (low, high) = (responses.bin(ofFrequency: 100), responses.bin(ofFrequency: 16000))
    let smooth = energy.indices.map { k in
      let centre = min(high, max(low, k))
      // The mean is taken over a third of an octave around `centre`.
      let from = Int((Double(centre) * 0.891).rounded())
      let to = min(responses.bins - 1, Int((Double(centre) * 1.122).rounded()))
      return energy[from...max(from, to)].reduce(0, +) / Double(max(from, to) - from + 1)
    }
    let limit = 5.62
    let magnitude = smooth.map { min(limit, max(1 / limit, 1 / max($0, 1e-12).squareRoot())) }
    for (k, factor) in minimumPhaseResponse(magnitude: magnitude).enumerated() {
      responses.multiply(bin: k, by: factor)
    }
  }
}
