// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The pressure on a rigid sphere divided by the free-field pressure at its centre, by the textbook
/// series.
///
/// It is the incident field plus the scattered field that makes the radial velocity vanish on the
/// sphere; the time factor is exp(+i w t). The series uses spherical Bessel functions from their
/// own recurrences, independently of `SphereTransferFunction`.
struct BesselSeries {
  typealias Complex = (re: Double, im: Double)

  let ka: Double
  /// The wave number times the source distance; infinite for a plane wave.
  let kr: Double

  func pressure(cosine: Double) -> Complex {
    let count = Int(ka) + 60
    let near = Self.bessel(ka, count + 1)
    let far = kr.isFinite ? Self.bessel(kr, count + 1) : nil
    var sum: Complex = (0, 0)
    var (p, lastP) = (1.0, 0.0)
    for m in 0..<count {
      let order = Double(m)
      // For both j and h = j - i y: f'(m) = (m / x) f(m) - f(m + 1).
      let dj = order / ka * near.j[m] - near.j[m + 1]
      let dy = order / ka * near.y[m] - near.y[m + 1]
      guard dy.isFinite, near.y[m].isFinite else { break }
      let ratio = Self.divide((dj, 0), (dj, -dy))
      let scattered = Self.multiply(ratio, (near.j[m], -near.y[m]))
      var term: Complex = (near.j[m] - scattered.re, -scattered.im)
      // The factor is i^m for a plane wave, -i kr h(m)(kr) exp(i kr) for a point source.
      if let far {
        guard far.y[m].isFinite else { break }
        let phase: Complex = (cos(kr), sin(kr))
        let h = Self.multiply((far.j[m], -far.y[m]), phase)
        term = Self.multiply(term, (kr * h.im, -kr * h.re))
      } else {
        term = Self.multiply(term, [(1, 0), (0, 1), (-1, 0), (0, -1)][m % 4])
      }
      guard term.re.isFinite, term.im.isFinite else { break }
      let weight = (2 * order + 1) * p
      sum = (sum.re + weight * term.re, sum.im + weight * term.im)
      (lastP, p) = (p, ((2 * order + 1) * cosine * p - order * lastP) / (order + 1))
    }
    return sum
  }

  /// Computes j by downward recurrence (Miller), y by upward recurrence.
  private static func bessel(_ x: Double, _ count: Int) -> (j: [Double], y: [Double]) {
    var y = [-cos(x) / x, -cos(x) / (x * x) - sin(x) / x]
    for m in 1..<count { y.append((2 * Double(m) + 1) / x * y[m] - y[m - 1]) }
    let top = count + Int(x) + 40
    var j = [Double](repeating: 0, count: top + 2)
    j[top] = 1e-300
    for m in stride(from: top, to: 0, by: -1) {
      j[m - 1] = (2 * Double(m) + 1) / x * j[m] - j[m + 1]
      if abs(j[m - 1]) > 1e250 {
        for n in (m - 1)...top { j[n] *= 1e-250 }
      }
    }
    // Scale by j0 or j1, whichever is not near a zero.
    let first = abs(sin(x)) > 0.5 || x < 1
    let j1 = sin(x) / (x * x) - cos(x) / x
    let scale = first ? sin(x) / x / j[0] : j1 / j[1]
    return (j.map { $0 * scale }, y)
  }

  private static func multiply(_ a: Complex, _ b: Complex) -> Complex {
    (a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re)
  }

  private static func divide(_ a: Complex, _ b: Complex) -> Complex {
    // Scale first: near the origin, the square of h' overflows.
    let scale = max(abs(b.re), abs(b.im))
    let (c, d) = (b.re / scale, b.im / scale)
    let square = c * c + d * d
    return (
      (a.re * c + a.im * d) / square / scale, (a.im * c - a.re * d) / square / scale
    )
  }
}
