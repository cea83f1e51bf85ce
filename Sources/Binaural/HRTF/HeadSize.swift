// SPDX-License-Identifier: Apache-2.0

private import CRealtime
private import SignalProcessing

/// The size of a head: the size of the rigid sphere with the same interaural delays.
///
/// A sphere's interaural delay is approximately proportional to the sine of the direction's angle
/// from the median plane. At low frequencies, the factor is 3 a / c (radius a, speed of sound c).
/// At higher frequencies, it is smaller (Kuhn, J. Acoust. Soc. Am. 62, 157, 1977). `slope(radius:)`
/// computes the factor for `InterauralDelays.band`.
public struct HeadSize: Sendable, Equatable {
  /// The radius of the sphere, in m.
  public let radius: Double
  /// The circumference of the sphere, in m.
  public var circumference: Double { 2 * .pi * radius }

  public init(circumference: Double) { radius = circumference / (2 * .pi) }

  private init(radius: Double) { self.radius = radius }

  /// Estimates the size from a set's interaural delays; nil if the radius is not between 5 and 14
  /// cm, or if all directions are near the median plane.
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

  /// Returns a sphere's interaural delay, in s, divided by the sine of the angle from the median
  /// plane. The quotient is a weighted least-squares fit to the delays at four angles.
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
      // The directions at one angle from the median plane form a circle about the interaural axis.
      // The circumference of the circle is proportional to the cosine of the angle.
      let weight = realtime_cos(degrees * .pi / 180)
      product += weight * sine * InterauralDelays.delay(spectra, bins, width)
      square += weight * sine * sine
    }
    return product / square
  }
}

extension HRTFSet {
  /// Returns the set for a head of a different size: interaural delays change, magnitudes do not.
  ///
  /// The responses of the two ears are shifted in opposite directions, each by half the change of
  /// the interaural delay. Up to 600 Hz, the measured delay is scaled by `factor`. From 2 kHz on,
  /// the change is multiplied by the ratio high / low of two interaural delays of a rigid sphere:
  ///
  ///     high = (a / c) (angle + sin(angle))    (Woodworth 1938)
  ///     low = slope sin(angle)
  ///
  /// Here, a is `GapFilling.headRadius`, c is the speed of sound, angle is the angle from the
  /// median plane, and slope is `HeadSize.slope(radius:)` for the radius a. The transition between
  /// 600 Hz and 2 kHz is smooth.
  ///
  /// - Parameter factor: greater than 0.
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

/// Delays or advances responses by a time that is longer below 600 Hz than above 2 kHz.
private struct EarShift: ~Copyable {
  private let fft: RealFFT
  private let time: AlignedFloats
  private let re: AlignedFloats
  private let im: AlignedFloats
  private let sampleRate: Double
  /// The interaural delay of a sphere at low frequencies divided by (a / c) sin(angle), where a is
  /// the radius, c is the speed of sound and angle is the angle from the median plane.
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

  /// Returns a response delayed by `seconds`, with `room` samples added before it.
  ///
  /// - Parameters:
  ///   - seconds: the delay of the components up to 600 Hz; negative to advance the response.
  ///   - sine: the sine of the angle from the median plane, at least 0.
  ///   - taps: the number of samples to return.
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
