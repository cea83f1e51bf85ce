// SPDX-License-Identifier: Apache-2.0

private import CRealtime

/// Evaluates spherical harmonics in real-time code. The computation uses double precision, and the
/// results are in single precision.
///
/// ## Threading
/// `evaluate` may be called from several threads at once. It does not allocate, lock or wait.
public struct HarmonicEvaluator: ~Copyable, @unchecked Sendable {
  public let order: Int
  /// The SN3D factor of each channel.
  private let scales: UnsafeMutablePointer<Double>
  /// The reciprocals of 1 to `order`; a multiplication is much faster than a division. Element 0 is
  /// not used.
  private let inverses: UnsafeMutablePointer<Double>

  public init(order: Int) {
    self.order = order
    let count = SphericalHarmonics.channelCount(order: order)
    scales = .allocate(capacity: count)
    inverses = .allocate(capacity: order + 1)
    for n in 0...order { (inverses + n).initialize(to: 1 / Double(max(1, n))) }
    for l in 0...order {
      for m in 0...l {
        let scale = SphericalHarmonics.scale(degree: l, m)
        (scales + l * l + l + m).initialize(to: scale)
        if m > 0 { (scales + l * l + l - m).initialize(to: scale) }
      }
    }
  }

  deinit {
    scales.deallocate()
    inverses.deallocate()
  }

  /// Writes the gains that encode a plane wave from the direction `v`.
  ///
  /// - Parameters:
  ///   - v: a unit vector; x is front, y left, z up.
  ///   - gains: receives (order + 1)^2 values [ACN, SN3D].
  @_noLocks
  public func evaluate(_ v: SIMD3<Double>, into gains: UnsafeMutablePointer<Float>) {
    var (c, s) = (1.0, 0.0)
    var sectoral = 1.0
    for m in stride(from: 0, through: order, by: 1) {
      var (previous, current) = (0.0, sectoral)
      for l in stride(from: m, through: order, by: 1) {
        if l > m {
          let next =
            (Double(2 * l - 1) * v.z * current - Double(l + m - 1) * previous) * inverses[l - m]
          (previous, current) = (current, next)
        }
        let at = l * l + l
        gains[at + m] = Float(current * scales[at + m] * c)
        if m > 0 { gains[at - m] = Float(current * scales[at - m] * s) }
      }
      sectoral *= Double(2 * m + 1)
      (c, s) = (c * v.x - s * v.y, s * v.x + c * v.y)
    }
  }
}
