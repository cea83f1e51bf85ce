// SPDX-License-Identifier: Apache-2.0

internal import CRealtime

/// One filter of a parametric equaliser.
///
/// The coefficients follow R. Bristow-Johnson, "Cookbook formulae for audio equalizer biquad filter
/// coefficients".
public struct ParametricFilter: Sendable, Equatable {
  public enum Kind: String, Sendable, CaseIterable {
    /// A bell curve that reaches `gain` at `frequency`.
    case peak
    /// A shelf with `gain` below `frequency`, and half of that gain, in dB, at `frequency`.
    case lowShelf
    /// A shelf with `gain` above `frequency`, and half of that gain, in dB, at `frequency`.
    case highShelf
    case lowPass
    case highPass
    case notch
  }

  public var kind: Kind
  /// The centre or corner frequency, in Hz.
  public var frequency: Double
  /// The gain in dB; not used by low-pass, high-pass and notch filters.
  public var gain: Double
  public var quality: Double

  public init(_ kind: Kind, frequency: Double, gain: Double = 0, quality: Double) {
    self.kind = kind
    self.frequency = frequency
    self.gain = gain
    self.quality = quality
  }

  /// Returns the quality of a shelf of `gain` dB. `slope` is relative to the steepest slope without
  /// overshoot.
  public static func quality(ofSlope slope: Double, gain: Double) -> Double {
    let a = amplitude(gain)
    let square = (a + 1 / a) * (1 / slope - 1) + 2
    return 1 / max(square, 0.01).squareRoot()
  }

  /// Returns the filter for a sample rate in Hz; nil if `frequency` is at least 0.499 times the
  /// rate.
  public func biquad(sampleRate: Double) -> Biquad? {
    guard frequency < 0.499 * sampleRate else { return nil }
    let angle = 2 * .pi * frequency / sampleRate
    let (c, alpha) = (realtime_cos(angle), realtime_sin(angle) / (2 * quality))
    let a = Self.amplitude(gain)
    switch kind {
    case .peak:
      return Self.scaled(1 + alpha * a, -2 * c, 1 - alpha * a, 1 + alpha / a, -2 * c, 1 - alpha / a)
    case .lowPass:
      return Self.scaled((1 - c) / 2, 1 - c, (1 - c) / 2, 1 + alpha, -2 * c, 1 - alpha)
    case .highPass:
      return Self.scaled((1 + c) / 2, -1 - c, (1 + c) / 2, 1 + alpha, -2 * c, 1 - alpha)
    case .notch:
      return Self.scaled(1, -2 * c, 1, 1 + alpha, -2 * c, 1 - alpha)
    case .lowShelf: return Self.shelf(a, c, 2 * a.squareRoot() * alpha)
    case .highShelf:
      // Mirror the low shelf in frequency: z becomes -z.
      let low = Self.shelf(a, -c, 2 * a.squareRoot() * alpha)
      return Biquad(b0: low.b0, b1: -low.b1, b2: low.b2, a1: -low.a1, a2: low.a2)
    }
  }

  private static func shelf(_ a: Double, _ c: Double, _ width: Double) -> Biquad {
    let (sum, difference) = (a + 1, a - 1)
    return scaled(
      a * (sum - difference * c + width), 2 * a * (difference - sum * c),
      a * (sum - difference * c - width), sum + difference * c + width,
      -2 * (difference + sum * c), sum + difference * c - width)
  }

  private static func scaled(
    _ b0: Double, _ b1: Double, _ b2: Double, _ a0: Double, _ a1: Double, _ a2: Double
  ) -> Biquad {
    Biquad(b0: b0 / a0, b1: b1 / a0, b2: b2 / a0, a1: a1 / a0, a2: a2 / a0)
  }

  private static func amplitude(_ gain: Double) -> Double {
    realtime_exp(gain / 40 * realtime_log(10))
  }
}
