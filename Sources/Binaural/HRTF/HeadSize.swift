// SPDX-License-Identifier: Apache-2.0

private import CRealtime
private import SignalProcessing

/// The size of the sphere whose ears are as far apart in time as those of a head.
///
/// The time between the ears of a sphere grows with the sine of the direction's angle from the
/// median plane, by 3 a / c at low frequencies and less above (Kuhn, J. Acoust. Soc. Am. 62, 157,
/// 1977). The factor of the band in which delays are measured comes from the sphere's exact
/// transfer function (`SphereTransferFunction`). Circumference is that of the sphere, 2 pi a.
public struct HeadSize: Sendable, Equatable {
  /// Metres.
  public let radius: Double
  /// Metres.
  public var circumference: Double { 2 * .pi * radius }

  public init(circumference: Double) { radius = circumference / (2 * .pi) }

  private init(radius: Double) { self.radius = radius }

  /// The size that a set's delays tell; nil where they tell of no head.
  public init?(of set: HRTFSet) {
    let weights = set.areaWeights
    var (product, square) = (0.0, 0.0)
    for (d, seconds) in InterauralDelays(set).seconds.enumerated() {
      let sine = set.directions[d].y
      product += weights[d] * sine * seconds
      square += weights[d] * sine * sine
    }
    guard square > 1e-6 else { return nil }
    let slope = product / square
    var (low, high) = (0.05, 0.14)
    guard slope > Self.slope(radius: low), slope < Self.slope(radius: high) else { return nil }
    for _ in 0..<12 {
      let middle = (low + high) / 2
      if Self.slope(radius: middle) < slope { low = middle } else { high = middle }
    }
    self.init(radius: (low + high) / 2)
  }

  /// Seconds of delay over the sine of the angle from the median plane, for a sphere.
  static func slope(radius: Double) -> Double {
    let sphere = SphereTransferFunction(
      radius: radius, sourceDistance: .infinity, speedOfSound: GapFilling.speedOfSound)
    let width = 100.0
    let bins = InterauralDelays.bins(width: width)
    var (product, square) = (0.0, 0.0)
    for degrees in [15.0, 35, 55, 75] {
      let sine = realtime_sin(degrees * .pi / 180)
      let spectra = bins.map { bin -> Complex in
        let near = sphere.value(frequency: Double(bin) * width, cosine: sine)
        let far = sphere.value(frequency: Double(bin) * width, cosine: -sine)
        return Complex(near.re, near.im) * Complex(far.re, -far.im)
      }
      // Rings of the sphere about the ears' axis are longest in the median plane.
      let weight = realtime_cos(degrees * .pi / 180)
      product += weight * sine * InterauralDelays.delay(spectra, bins, width)
      square += weight * sine * sine
    }
    return product / square
  }
}

extension HRTFSet {
  /// The set for a head of another size: all times between the ears `factor` times as long, every
  /// magnitude as it was.
  ///
  /// Each ear's responses are moved by half of the difference. Up to 600 Hz it is measured
  /// (`InterauralDelays`); from 2 kHz it is less in the ratio that a sphere's have (Kuhn 1977: 3 a
  /// / c sin below; Woodworth 1938: a / c (angle + sin) above), and between the two it goes over
  /// smoothly.
  ///
  /// - Parameter factor: above zero.
  public func withInterauralDelays(scaledBy factor: Double) -> HRTFSet {
    guard factor != 1 else { return self }
    let delays = InterauralDelays(self).seconds
    let room = 128
    var size = 512
    while size < taps + 2 * room { size *= 2 }
    let newTaps = taps + 2 * room
    var result = self
    result.taps = newTaps
    result.delays = self.delays.map { $0 - Double(room) }
    result.impulseResponses = []
    result.impulseResponses.reserveCapacity(directions.count * 2 * newTaps)
    let shift = EarShift(size: size, sampleRate: sampleRate)
    for d in directions.indices {
      let late = (factor - 1) * delays[d] / 2
      for ear in 0...1 {
        result.impulseResponses += shift.moved(
          impulseResponse(direction: d, ear: ear), by: ear == 0 ? -late : late,
          sine: abs(directions[d].y), room: room, taps: newTaps)
      }
    }
    return result
  }
}

/// Moves responses in time, more below 600 Hz than above 2 kHz.
private struct EarShift: ~Copyable {
  private let fft: RealFFT
  private let time: AlignedFloats
  private let re: AlignedFloats
  private let im: AlignedFloats
  private let sampleRate: Double
  /// Seconds of delay of a sphere over radius over speed of sound and sine, in the band of
  /// measuring.
  private let lowFactor: Double

  init(size: Int, sampleRate: Double) {
    fft = RealFFT(size: size)
    time = AlignedFloats(count: size)
    re = AlignedFloats(count: fft.bins)
    im = AlignedFloats(count: fft.bins)
    self.sampleRate = sampleRate
    lowFactor =
      HeadSize.slope(radius: GapFilling.headRadius) * GapFilling.speedOfSound
      / GapFilling.headRadius
  }

  /// - Parameters:
  ///   - seconds: later, below 600 Hz.
  ///   - sine: of the angle from the median plane.
  ///   - room: samples that are put before and behind.
  func moved(
    _ response: ArraySlice<Float>, by seconds: Double, sine: Double, room: Int, taps: Int
  ) -> [Float] {
    time.clear()
    for (n, x) in response.enumerated() { time.pointer[n + room] = x }
    fft.forward(time.pointer, real: re.pointer, imaginary: im.pointer)
    let angle = realtime_atan2(sine, max(0, 1 - sine * sine).squareRoot())
    let ratio = sine > 1e-3 ? (angle + sine) / (lowFactor * sine) : 2 / lowFactor
    for k in 0..<fft.bins {
      let frequency = Double(k) * sampleRate / Double(fft.size)
      let above = octaveStep(frequency, from: 600, to: 2000)
      let turn = Complex(
        angle: -2 * .pi * frequency * seconds * (1 + (ratio - 1) * above))
      let moved = Complex(Double(re.pointer[k]), Double(im.pointer[k])) * turn
      re.pointer[k] = Float(moved.re)
      im.pointer[k] = Float(moved.im)
    }
    fft.inverse(real: re.pointer, imaginary: im.pointer, time: time.pointer)
    return (0..<taps).map { time.pointer[$0] }
  }
}
