// SPDX-License-Identifier: Apache-2.0

internal import CRealtime

/// A second-order recursive filter in double precision:
/// H(z) = (b0 + b1 z^-1 + b2 z^-2) / (1 + a1 z^-1 + a2 z^-2).
public struct Biquad: Sendable, Equatable {
  public var b0: Double
  public var b1: Double
  public var b2: Double
  public var a1: Double
  public var a2: Double

  public init(b0: Double, b1: Double, b2: Double, a1: Double, a2: Double) {
    (self.b0, self.b1, self.b2) = (b0, b1, b2)
    (self.a1, self.a2) = (a1, a2)
  }

  /// Returns the complex response at `frequency`. Both arguments are in Hz.
  public func response(at frequency: Double, sampleRate: Double) -> Complex {
    let z1 = Complex(angle: -2 * .pi * frequency / sampleRate)
    let z2 = z1 * z1
    let above = Complex(b0) + z1 * b1 + z2 * b2
    let below = Complex(1) + z1 * a1 + z2 * a2
    return above * below.conjugate * (1 / below.squaredMagnitude)
  }

  /// This filter with every zero and pole outside the unit circle reflected into the circle. The
  /// magnitude response stays the same (Oppenheim and Schafer, Discrete-Time Signal Processing, 3rd
  /// edition, section 5.6).
  public var minimumPhase: Biquad {
    let above = Self.reflected(b0, b1, b2)
    let below = Self.reflected(1, a1, a2)
    return Biquad(
      b0: above.0 / below.0, b1: above.1 / below.0, b2: above.2 / below.0,
      a1: below.1 / below.0, a2: below.2 / below.0)
  }

  /// Returns the coefficients of c0 z^2 + c1 z + c2 with every root outside the unit circle
  /// replaced by its conjugate reciprocal. The scale preserves the magnitude on the circle.
  private static func reflected(
    _ c0: Double, _ c1: Double, _ c2: Double
  ) -> (Double, Double, Double) {
    guard c0 != 0 else {
      // Remove a delay; it does not affect the magnitude.
      return c1 == 0 ? (c2, 0, 0) : reflected(c1, c2, 0)
    }
    let discriminant = c1 * c1 - 4 * c0 * c2
    if discriminant < 0 { return abs(c2) > abs(c0) ? (c2, c1, c0) : (c0, c1, c2) }
    let root = discriminant.squareRoot()
    let sum = -(c1 + (c1 < 0 ? -root : root)) / 2
    var factors = [sum / c0, sum == 0 ? 0 : c2 / sum].map { (1.0, -$0) }
    for i in factors.indices where abs(factors[i].1) > 1 {
      factors[i] = (factors[i].1, 1)
    }
    let ((p, q), (r, s)) = (factors[0], factors[1])
    return (c0 * p * r, c0 * (p * s + q * r), c0 * q * s)
  }
}

/// Returns the impulse response of filters in series.
///
/// - Parameters:
///   - sections: the filters, which must be stable.
///   - residue: the largest share of the energy to cut off at the end.
///   - limit: the maximum number of samples to compute.
/// - Returns: the beginning of the response; at least one sample.
public func impulseResponse(
  of sections: [Biquad], residue: Double, limit: Int
) -> [Double] {
  var samples = [Double](repeating: 0, count: max(1, limit))
  samples[0] = 1
  for section in sections {
    var (s1, s2) = (0.0, 0.0)
    for n in samples.indices {
      let x = samples[n]
      let y = section.b0 * x + s1
      s1 = section.b1 * x - section.a1 * y + s2
      s2 = section.b2 * x - section.a2 * y
      samples[n] = y
    }
  }
  let allowed = samples.reduce(0) { $0 + $1 * $1 } * residue
  var rest = 0.0
  for n in samples.indices.reversed() {
    rest += samples[n] * samples[n]
    if rest > allowed { return Array(samples[...n]) }
  }
  return [samples[0]]
}
