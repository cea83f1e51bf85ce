// SPDX-License-Identifier: Apache-2.0

/// A 3 x 3 rotation matrix, stored as three rows.
public struct RotationMatrix: Sendable, Equatable {
  /// The first row, which determines the x component of the rotated vector.
  public var x: SIMD3<Double>
  public var y: SIMD3<Double>
  public var z: SIMD3<Double>

  /// Computes the matrix of a unit quaternion.
  @_noLocks
  @inlinable
  public init(_ q: Quaternion) {
    let (w, a, b, c) = (q.w, q.x, q.y, q.z)
    x = SIMD3(1 - 2 * (b * b + c * c), 2 * (a * b - w * c), 2 * (a * c + w * b))
    y = SIMD3(2 * (a * b + w * c), 1 - 2 * (a * a + c * c), 2 * (b * c - w * a))
    z = SIMD3(2 * (a * c - w * b), 2 * (b * c + w * a), 1 - 2 * (a * a + b * b))
  }

  /// Returns a vector rotated by the matrix.
  @_noLocks
  @inlinable
  public func rotate(_ v: SIMD3<Double>) -> SIMD3<Double> {
    SIMD3((x * v).sum(), (y * v).sum(), (z * v).sum())
  }
}
