// SPDX-License-Identifier: Apache-2.0

public import CRealtime

/// A quaternion `w + xi + yj + zk`. A unit quaternion rotates vectors actively.
///
/// The axes are x front, y left, z up, right-handed. A head pose `headToWorld` converts a vector
/// from the head's frame to the world's. The right factor of a product is the rotation that is
/// applied first: `aToC = bToC * aToB`.
public struct Quaternion: BitwiseCopyable, Sendable, Equatable {
  public var w: Double
  public var x: Double
  public var y: Double
  public var z: Double

  /// No rotation: the head looks along +x.
  @inlinable
  public static var identity: Quaternion {
    @_noLocks get { Quaternion(w: 1, x: 0, y: 0, z: 0) }
  }

  @_noLocks
  @inlinable
  public init(w: Double, x: Double, y: Double, z: Double) {
    self.w = w
    self.x = x
    self.y = y
    self.z = z
  }

  @_noLocks
  @inlinable
  public static func == (a: Quaternion, b: Quaternion) -> Bool {
    if a.w != b.w { return false }
    if a.x != b.x { return false }
    if a.y != b.y { return false }
    return a.z == b.z
  }

  /// Creates the rotation about a vector by the vector's length, in radians.
  @_noLocks
  @inlinable
  public init(rotationVector v: SIMD3<Double>) {
    let squared = (v * v).sum()
    let angle = realtime_sqrt(squared)
    // Use a series at small angles, because the quotient is undefined at 0.
    let scale = angle < 1e-6 ? 0.5 - squared / 48 : realtime_sin(angle / 2) / angle
    self.init(w: realtime_cos(angle / 2), x: v.x * scale, y: v.y * scale, z: v.z * scale)
  }

  /// The rotation vector: its direction is the axis, and its length is the angle in radians, 0 to
  /// pi.
  @inlinable
  public var rotationVector: SIMD3<Double> {
    @_noLocks get {
      let s = w < 0 ? -1.0 : 1.0
      let v = SIMD3(x, y, z) * s
      let sine = realtime_sqrt((v * v).sum())
      guard sine > 1e-9 else { return v * 2 }
      return v * (2 * realtime_atan2(sine, w * s) / sine)
    }
  }

  @inlinable
  public var conjugate: Quaternion {
    @_noLocks get { Quaternion(w: w, x: -x, y: -y, z: -z) }
  }

  @inlinable
  public var squaredNorm: Double {
    @_noLocks get { w * w + x * x + y * y + z * z }
  }

  /// Whether the quaternion can be normalised: its squared norm is between 1e-12 and 1e12.
  @inlinable
  public var isUsable: Bool {
    @_noLocks get {
      let n = squaredNorm
      return n > 1e-12 && n < 1e12
    }
  }

  /// This quaternion scaled to unit norm; the identity if `isUsable` is false.
  @inlinable
  public var normalized: Quaternion {
    @_noLocks get {
      guard isUsable else { return Quaternion(w: 1, x: 0, y: 0, z: 0) }
      let s = 1 / realtime_sqrt(squaredNorm)
      return Quaternion(w: w * s, x: x * s, y: y * s, z: z * s)
    }
  }

  /// The angle of the rotation in radians, 0 to pi.
  @inlinable
  public var angle: Double {
    @_noLocks get {
      2 * realtime_atan2(realtime_sqrt(x * x + y * y + z * z), w < 0 ? -w : w)
    }
  }

  @_noLocks
  @inlinable
  public static func * (a: Quaternion, b: Quaternion) -> Quaternion {
    Quaternion(
      w: a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
      x: a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
      y: a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
      z: a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w)
  }

  /// Returns a vector rotated by this quaternion, which must have unit norm.
  @_noLocks
  @inlinable
  public func rotate(_ v: SIMD3<Double>) -> SIMD3<Double> {
    let u = SIMD3(x, y, z)
    let t = Self.cross(u, v) * 2
    return v + t * w + Self.cross(u, t)
  }

  @_noLocks
  @usableFromInline
  static func cross(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> SIMD3<Double> {
    SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
  }

  /// Returns the spherical linear interpolation between two rotations along the shorter arc [slerp;
  /// Shoemake, SIGGRAPH 1985].
  ///
  /// - Parameters:
  ///   - a: the rotation at `fraction` 0, of unit norm.
  ///   - b: the rotation at `fraction` 1, of unit norm; its sign does not matter.
  ///   - fraction: 0 to 1; outside this range the rotation continues at the same speed.
  @_noLocks
  @inlinable
  public static func slerp(_ a: Quaternion, _ b: Quaternion, _ fraction: Double) -> Quaternion {
    let step = (a.conjugate * b).rotationVector * fraction
    return (a * Quaternion(rotationVector: step)).normalized
  }

  /// Returns the angle between two rotations in radians, 0 to pi.
  @_noLocks
  @inlinable
  public static func angle(between a: Quaternion, _ b: Quaternion) -> Double {
    (a.conjugate * b).angle
  }
}
