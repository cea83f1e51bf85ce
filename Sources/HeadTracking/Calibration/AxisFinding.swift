// SPDX-License-Identifier: Apache-2.0

public import Geometry
import Glibc

/// The mounting of a tracker on the head, found from three poses: ahead, up and left.
///
/// Looking up rotates the head about its rightward axis, and turning left rotates it about its
/// upward axis. The directions of these axes in the tracker's frame give the mounting.
public struct AxisFinding: Sendable, Equatable {
  /// The map from the tracker's axes to the head's axes.
  public let axes: AxisMap
  /// The axis of the tracker's reference frame that points up.
  public let up: SignedAxis
  /// The angle of the rotation from the measured axes to `axes`, in degrees.
  public let misalignmentDegrees: Double
  public let upTurnDegrees: Double
  public let leftTurnDegrees: Double

  /// Smallest accepted rotation from looking ahead to looking up, in degrees.
  public static let smallestUpTurn = 15.0
  /// Smallest accepted rotation from looking ahead to looking left, in degrees.
  public static let smallestLeftTurn = 25.0
  /// Largest accepted error of the measured axes, in degrees.
  static let largestMisalignment = 30.0

  /// Finds the axes from three poses of the tracker in its own reference frame.
  ///
  /// - Parameters:
  ///   - ahead: the pose while the head looks ahead.
  ///   - up: the pose while the head is bent back.
  ///   - left: the pose while the head is turned to the left.
  ///   - isUpright: whether to reject the poses if the reference frame's z axis does not point up.
  ///
  /// - Throws: `turnTooSmall`, `turnsAlike`, `askew`, `mirrored` or `otherPoses`.
  public init(
    ahead: Quaternion, up: Quaternion, left: Quaternion, isUpright: Bool = false
  ) throws(CalibrationError) {
    let degrees = 180 / Double.pi
    let upTurn = (ahead.conjugate * up).rotationVector
    let leftTurn = (ahead.conjugate * left).rotationVector
    upTurnDegrees = upTurn.length * degrees
    leftTurnDegrees = leftTurn.length * degrees
    guard upTurnDegrees >= Self.smallestUpTurn else {
      throw .turnTooSmall(.up, degrees: upTurnDegrees)
    }
    guard leftTurnDegrees >= Self.smallestLeftTurn else {
      throw .turnTooSmall(.left, degrees: leftTurnDegrees)
    }
    let top = leftTurn / leftTurn.length
    let side = -upTurn / upTurn.length
    let apart = acos(max(-1, min(1, (top * side).sum()))) * degrees
    guard abs(apart - 90) <= Self.largestMisalignment else { throw .turnsAlike(degrees: apart) }
    let flat = side - top * (side * top).sum()
    let leftward = flat / flat.length
    let found = Self.nearest(front: SIMD3.cross(leftward, top), left: leftward, up: top)
    axes = found.map
    misalignmentDegrees = found.degrees
    guard found.degrees <= Self.largestMisalignment else { throw .askew(degrees: found.degrees) }
    let upward = SignedAxis.nearest(to: (left * ahead.conjugate).rotationVector)
    guard upward.degrees <= Self.largestMisalignment else { throw .askew(degrees: upward.degrees) }
    if isUpright, upward.axis.direction.z < 0 { throw .mirrored }
    guard !isUpright || upward.axis == .z else { throw .otherPoses }
    self.up = upward.axis
  }

  /// Returns the map nearest to the measured axes (unit vectors), and the angle of the rotation
  /// between them in degrees.
  private static func nearest(
    front: SIMD3<Double>, left: SIMD3<Double>, up: SIMD3<Double>
  ) -> (map: AxisMap, degrees: Double) {
    let trace: (AxisMap) -> Double = { map in
      map.apply(front).x + map.apply(left).y + map.apply(up).z
    }
    let best = AxisMap.all.max { trace($0) < trace($1) } ?? .frontLeftUp
    return (best, acos(max(-1, min(1, (trace(best) - 1) / 2))) * 180 / .pi)
  }
}
