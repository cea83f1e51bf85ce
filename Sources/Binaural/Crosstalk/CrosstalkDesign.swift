// SPDX-License-Identifier: Apache-2.0

private import CRealtime
private import SignalProcessing

/// Designs filters that cancel what each of two loudspeakers in front brings to the other ear.
///
/// The head's responses to both loudspeakers, taken to be alike on both sides, fall into a sum and
/// a difference, each of which is inverted by itself (Cooper and Bauck, J. Audio Eng. Soc. 37, 3,
/// 1989, the shuffler). The inverse is regularised so that it never amplifies by more than
/// `largestBoost`: S* / (|S|^2 + b) with b = 1 / (4 boost^2) (Kirkeby, Nelson, Hamada,
/// Orduna-Bustamante, IEEE Trans. Speech Audio Process. 6, 189, 1998). Loudspeakers that are close
/// together sound alike to both ears at low frequencies, so there the difference, and with it the
/// cancelling, gives way first; the sum, and with it the bass, stays (compare Takeuchi and Nelson,
/// J. Acoust. Soc. Am. 112, 2786, 2002, on what such inversion costs).
public struct CrosstalkDesign: Sendable, Equatable {
  /// Radians from the front to either loudspeaker, 3 to 60 degrees.
  public var angle: Double
  /// dB that cancelling may cost: how much louder the loudspeakers play for the same at the ears.
  public var largestBoost = 12.0

  /// Seconds by which the filters are late; the decoder's own delay makes up for it.
  static let modellingDelay = BinauralFilters.delaySeconds
  /// Hz: the head is taken to be small below, since measured sets end about there.
  static let lowest = 200.0
  /// Hz: cancelling fades out between the two. Above, a head that is off by a centimetre undoes it.
  static let highest = 7000.0...9000.0
  /// dB by which the responses' common colour may be off its mean and is still evened out.
  static let largestColour = 12.0

  public init(angle: Double) { self.angle = angle }

  /// - Parameter set: prepared for the playing rate.
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

  /// Regularised inverses of sum and difference, their common colour evened out.
  private func inverses(
    _ modes: LoudspeakerModes, _ colour: [Complex]
  ) -> (sum: [Complex], difference: [Complex]) {
    let boost = realtime_exp(largestBoost / 20 * realtime_log(10))
    let floor = 1 / (4 * boost * boost)
    let width = modes.binWidth
    // What the difference loses at low frequencies is a high-pass. Of minimum phase it needs no
    // time ahead; the sum gets the same phase, so that both stay together.
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

  /// Half of sum and difference are what an ear feeds to its own and to the other loudspeaker.
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

/// 0 up to one frequency, 1 from another, half a cosine over the octaves between.
func octaveStep(_ frequency: Double, from low: Double, to high: Double) -> Double {
  let place = realtime_log(max(frequency, 1e-3) / low) / realtime_log(high / low)
  return 0.5 - 0.5 * realtime_cos(.pi * min(1, max(0, place)))
}
