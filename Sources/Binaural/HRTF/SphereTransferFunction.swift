// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The sound pressure on a rigid sphere divided by the free-field pressure at its centre, as a
/// Legendre series in the cosine of the angle between the source and the point on the sphere.
///
/// The method is that of R. O. Duda and W. L. Martens, "Range dependence of the response of a
/// spherical head model", J. Acoust. Soc. Am. 104(5), 3048-3058 (1998). Except for a power of i,
/// the spherical Hankel function of order m is exp(i x) / x times a polynomial Q(m) in z = 1/(i x),
/// with Q(m+1) = Q(m-1) - (2m+1) z Q(m) and Q(-1) = Q(0) = 1. This code uses the time factor
/// exp(+i w t), with the angular frequency w and the time t. The results are therefore the complex
/// conjugates of those in the paper.
struct SphereTransferFunction {
  /// The radius of the sphere, in m.
  let radius: Double
  /// The distance from the centre to the source, in m, greater than the radius; infinite for a
  /// plane wave.
  let sourceDistance: Double
  /// The speed of sound, in m/s.
  let speedOfSound: Double

  struct Term: Equatable {
    var re: Double
    var im: Double
  }

  /// The series ends at the first coefficient below this magnitude, but not before the order
  /// exceeds the sphere's circumference in wavelengths. Before then, coefficients can grow again.
  private static let smallest = 1e-10

  /// Returns the coefficients of the Legendre polynomials P0, P1, ... at a frequency of 0 Hz or
  /// more.
  func coefficients(frequency: Double) -> [Term] {
    let mu = 2 * .pi * frequency * radius / speedOfSound
    guard mu > 1e-9 else { return staticCoefficients }
    // z = 1/(i x) = -i/x is imaginary. `za` and `zr` are its imaginary parts on the sphere and at
    // the source.
    let za = -1 / mu
    let zr = sourceDistance.isInfinite ? 0 : -radius / (mu * sourceDistance)
    var (near, lastNear) = (Term(re: 1, im: 0), Term(re: 1, im: 0))
    var (far, lastFar) = (Term(re: 1, im: 0), Term(re: 1, im: 0))
    var terms: [Term] = []
    var m = 0.0
    while true {
      let slope = lastNear.adding(near, timesImaginary: -(m + 1) * za)
      let term = far.divided(by: slope).scaled((2 * m + 1) / mu)
      // The coefficient in the paper is i exp(-i mu) times `term`. Append its complex conjugate.
      let (c, s) = (cos(mu), sin(mu))
      terms.append(Term(re: term.re * s - term.im * c, im: -(term.re * c + term.im * s)))
      // The series also ends before the polynomials overflow. The coefficient, which contains their
      // ratio, is negligible by then.
      if m > mu, term.magnitude < Self.smallest || near.magnitude > 1e150 { return terms }
      (lastNear, near) = (near, lastNear.adding(near, timesImaginary: -(2 * m + 1) * za))
      (lastFar, far) = (far, lastFar.adding(far, timesImaginary: -(2 * m + 1) * zr))
      m += 1
    }
  }

  /// Returns the sum of the series at a frequency in Hz, for the cosine of the angle between the
  /// source and the point on the sphere.
  func value(frequency: Double, cosine: Double) -> Term {
    var (p, lastP, m) = (1.0, 0.0, 0.0)
    var sum = Term(re: 0, im: 0)
    for term in coefficients(frequency: frequency) {
      sum = Term(re: sum.re + p * term.re, im: sum.im + p * term.im)
      (lastP, p) = (p, ((2 * m + 1) * cosine * p - m * lastP) / (m + 1))
      m += 1
    }
    return sum
  }

  /// The coefficients at 0 Hz: (2m+1)/(m+1) (a/r)^m for the radius a and the distance r. A plane
  /// wave has only the coefficient of P0, which is 1.
  private var staticCoefficients: [Term] {
    var terms: [Term] = []
    var (power, m) = (1.0, 0.0)
    while power > Self.smallest {
      terms.append(Term(re: (2 * m + 1) / (m + 1) * power, im: 0))
      power *= radius / sourceDistance
      m += 1
    }
    return terms
  }
}

extension SphereTransferFunction.Term {
  var magnitude: Double { hypot(re, im) }

  /// Returns self + other * (i factor).
  fileprivate func adding(_ other: Self, timesImaginary factor: Double) -> Self {
    Self(re: re - other.im * factor, im: im + other.re * factor)
  }

  fileprivate func divided(by other: Self) -> Self {
    let square = other.re * other.re + other.im * other.im
    return Self(
      re: (re * other.re + im * other.im) / square, im: (im * other.re - re * other.im) / square)
  }

  fileprivate func scaled(_ factor: Double) -> Self { Self(re: re * factor, im: im * factor) }
}
