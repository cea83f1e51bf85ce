// SPDX-License-Identifier: Apache-2.0

internal import CRealtime

/// A complex number in double precision, for filter design.
public struct Complex: Sendable, Equatable {
  public var re: Double
  public var im: Double

  @inlinable
  public init(_ re: Double, _ im: Double = 0) {
    self.re = re
    self.im = im
  }

  /// Creates the number on the unit circle at an angle in radians.
  public init(angle: Double) {
    re = realtime_cos(angle)
    im = realtime_sin(angle)
  }

  @inlinable
  public var conjugate: Complex { Complex(re, -im) }

  @inlinable
  public var squaredMagnitude: Double { re * re + im * im }

  /// The angle in radians, -pi to pi.
  public var angle: Double { realtime_atan2(im, re) }

  @inlinable
  public static func + (a: Complex, b: Complex) -> Complex { Complex(a.re + b.re, a.im + b.im) }

  @inlinable
  public static func += (a: inout Complex, b: Complex) { a = a + b }

  @inlinable
  public static func * (a: Complex, b: Complex) -> Complex {
    Complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re)
  }

  @inlinable
  public static func * (a: Complex, b: Double) -> Complex { Complex(a.re * b, a.im * b) }
}
