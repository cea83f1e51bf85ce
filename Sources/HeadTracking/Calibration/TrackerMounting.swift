// SPDX-License-Identifier: Apache-2.0

public import Geometry

/// The mounting and the quaternion conventions of a tracker for which they are not documented.
public struct TrackerMounting: Sendable, Equatable {
  /// The order of the components in the tracker's quaternions.
  public enum Components: String, Sendable, CaseIterable {
    /// The order in which the driver reads them.
    case xyzw
    /// What the driver reads as x, y, z and w is in fact w, x, y and z.
    case wxyz
  }

  /// The rotation from the tracker's axes to the head's axes.
  public var rotation: Quaternion
  public var components: Components
  /// Whether the tracker reports the rotation from the world to the tracker, not the reverse.
  public var isInverse: Bool
  /// Whether the z axis of the tracker's world points down.
  public var isUpsideDown: Bool

  public init(
    rotation: Quaternion, components: Components = .xyzw, isInverse: Bool = false,
    isUpsideDown: Bool = false
  ) {
    self.rotation = rotation
    self.components = components
    self.isInverse = isInverse
    self.isUpsideDown = isUpsideDown
  }

  /// Returns the orientation of the head, in a world whose z axis points up.
  ///
  /// - Parameter delivered: the orientation as the driver reads it.
  public func headToWorld(_ delivered: Quaternion) -> Quaternion {
    (trackerToWorld(delivered) * rotation.conjugate).normalized
  }

  /// Returns the orientation of the tracker, in a world whose z axis points up.
  func trackerToWorld(_ q: Quaternion) -> Quaternion {
    var turn = q
    if components == .wxyz { turn = Quaternion(w: q.x, x: q.y, y: q.z, z: q.w) }
    if isInverse { turn = turn.conjugate }
    // Half a turn about x points the z axis up.
    return isUpsideDown ? Quaternion(w: 0, x: 1, y: 0, z: 0) * turn : turn
  }
}
