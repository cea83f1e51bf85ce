// SPDX-License-Identifier: Apache-2.0

private import CRealtime
private import SignalProcessing

/// Designs crosstalk cancellation for two loudspeakers in front of the listener.
///
/// The responses to the two loudspeakers are assumed to be mirror images. Their sum and difference
/// are inverted separately (the shuffler of Cooper and Bauck, J. Audio Eng. Soc. 37, 3, 1989). The
/// regularised inverse of a response S is S* / (|S|^2 + b) with b = 1 / (4 boost^2), where S* is
/// the conjugate of S, and boost is `largestBoost` as a linear factor (Kirkeby, Nelson, Hamada,
/// Orduna-Bustamante, IEEE Trans. Speech Audio Process. 6, 189, 1998).
///
/// If the loudspeakers are close together, the difference is small at low frequencies. The
/// regularisation then reduces the cancellation but preserves the bass. (For the loss of dynamic
/// range that the inversion causes, see Takeuchi and Nelson, J. Acoust. Soc. Am. 112, 2786, 2002.)
public struct CrosstalkDesign: Sendable, Equatable {
  /// The angle from the front to either loudspeaker, in radians.
  public var angle: Double
  /// The largest amplification by the inverse filters, in dB. It excludes the equalisation of the
  /// colour that the sum and the difference have in common.
  public var largestBoost = 12.0

  /// The delay of the filters, in s. `CrosstalkFilters.behind` removes it.
  static let modellingDelay = BinauralFilters.delaySeconds
  /// The frequency, in Hz, below which a model replaces the responses of the set; see
  /// `LoudspeakerModes.extend`. Most measured sets do not extend much lower.
  static let lowest = 200.0
  /// The band, in Hz, over which cancellation fades out. Above it, moving the head by 1 cm makes
  /// cancellation ineffective.
  static let highest = 7000.0...9000.0
  /// The largest gain and attenuation, in dB, in the equalisation of the colour that the sum and
  /// the difference have in common.
  static let largestColour = 12.0

  public init(angle: Double) { self.angle = angle }

  /// Returns the cancelling filters for a set.
  ///
  /// - Parameter set: a set that was prepared for the playback rate.
  public func filters(for set: HRTFSet) -> CrosstalkFilters {
    var size = 2048
    while Double(size) < set.sampleRate * 0.08 || size < 4 * set.taps { size *= 2 }
    let plant = LoudspeakerPlant(set, .init(angle: angle), size: size)
    var modes = LoudspeakerModes(plant)
    modes.extend(below: Self.lowest)
    modes.smooth()
    let colour = modes.takeColour(limit: Self.largestColour)
    let inverse = inverses(modes, colour)
    return time(inverse.sum, inverse.difference, plant)
  }

  /// Returns the regularised inverses of the sum and the difference, divided by the colour. Before
  /// this division, the inverses fade to 1 in the band `highest`.
  private func inverses(
    _ modes: LoudspeakerModes, _ colour: [Complex]
  ) -> (sum: [Complex], difference: [Complex]) {
    let boost = realtime_exp(largestBoost / 20 * realtime_log(10))
    let floor = 1 / (4 * boost * boost)
    let width = modes.binWidth
    // The regularisation acts on the difference like a high-pass filter. This filter is given
    // minimum phase, so that it needs no extra delay. The sum is given the same phase, so that the
    // sum and the difference remain aligned.
    let loss = modes.difference.indices.map { k -> Double in
      let power = modes.difference[k].squaredMagnitude
      let share = 1 - octaveStep(Double(k) * width, from: 700, to: 2000)
      return realtime_exp(share * realtime_log(max(1e-9, power / (power + floor))))
    }
    let phase = minimumPhaseResponse(magnitude: loss).map { Complex(angle: $0.angle) }
    func inverse(_ mode: [Complex]) -> [Complex] {
      mode.indices.map { k in
        let low =
          mode[k].conjugate * (1 / (mode[k].squaredMagnitude + floor)) * phase[k]
        let above = octaveStep(
          Double(k) * width, from: Self.highest.lowerBound, to: Self.highest.upperBound)
        let whole = low * (1 - above) + Complex(above)
        return whole * colour[k].conjugate * (1 / colour[k].squaredMagnitude)
      }
    }
    return (inverse(modes.sum), inverse(modes.difference))
  }

  /// Transforms the inverses, delayed by `modellingDelay`, to the time domain, and shortens them
  /// with a fade at both ends. The filter from an ear's signal to the loudspeaker on that ear's
  /// side is (sum + difference) / 2, and the filter to the other loudspeaker is
  /// (sum - difference) / 2.
  private func time(
    _ sum: [Complex], _ difference: [Complex], _ plant: LoudspeakerPlant
  ) -> CrosstalkFilters {
    let rate = plant.sampleRate
    let delay = Int((Self.modellingDelay * rate).rounded())
    let taps = Int((rate * 512 / 48000 / 64).rounded(.up)) * 64
    let fft = RealFFT(size: plant.size, batch: 2)
    let re = AlignedFloats(count: fft.bins * 2)
    let im = AlignedFloats(count: fft.bins * 2)
    let time = AlignedFloats(count: plant.size * 2)
    for k in 0..<fft.bins {
      let turn = Complex(angle: -2 * .pi * Double(k) * Double(delay) / Double(plant.size)) * 0.5
      let own = (sum[k] + difference[k]) * turn
      let other = (sum[k] + difference[k] * -1) * turn
      for (lane, value) in [own, other].enumerated() {
        re.pointer[2 * k + lane] = Float(value.re)
        im.pointer[2 * k + lane] = Float(value.im)
      }
    }
    fft.inverse(real: re.pointer, imaginary: im.pointer, time: time.pointer)
    let (rise, fall) = (delay / 3, taps / 4)
    let lanes = (0...1).map { lane in
      (0..<taps).map { n -> Float in
        let start = n < rise ? (Double(n) + 0.5) / Double(rise) : 1
        let end = min(1, Double(taps - n) / Double(fall + 1))
        let fade = (0.5 - 0.5 * realtime_cos(.pi * start)) * (0.5 - 0.5 * realtime_cos(.pi * end))
        return time.pointer[2 * n + lane] * Float(fade)
      }
    }
    return CrosstalkFilters(
      leftEar: [lanes[0], lanes[1]], rightEar: [lanes[1], lanes[0]], delayFrames: delay,
      sampleRate: rate)
  }
}

/// Returns the value of a smooth step at `frequency`: 0 up to `low`, 1 from `high` on, and between
/// them a raised cosine on a logarithmic frequency scale.
func octaveStep(_ frequency: Double, from low: Double, to high: Double) -> Double {
  let place = realtime_log(max(frequency, 1e-3) / low) / realtime_log(high / low)
  return 0.5 - 0.5 * realtime_cos(.pi * min(1, max(0, place)))
}
