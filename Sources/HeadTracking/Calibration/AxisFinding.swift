// SPDX-License-Identifier: Apache-2.0

public import Geometry
import Glibc

/// Finds the mounting of a tracker on the head from three poses that the head was held in.
///
/// Looking up rotates the head about its axis to the right, and turning left rotates it about its
/// axis upwards. The two rotations, as the tracker measured them, give the directions of these axes
/// in its own frame. The turn to the left also gives the upward axis of the tracker's reference
/// frame.
public struct AxisFinding: Sendable, Equatable {
  /// The map from the tracker's axes to the head's.
  public let axes: AxisMap
  /// The axis of the tracker's reference frame that points up.
  public let up: SignedAxis
  /// The angle between the measured axes and `axes`, in degrees.
  public let misalignmentDegrees: Double
  public let upTurnDegrees: Double
  public let leftTurnDegrees: Double

  /// Smallest rotations that are certain enough, in degrees.
  public static let smallestUpTurn = 15.0
  public static let smallestLeftTurn = 25.0
  /// Largest error accepted, in degrees, because people move inexactly.
  static let largestMisalignment = 30.0

  /// Finds the axes.
  ///
  /// - Parameters:
  ///   - ahead: the tracker's pose in its own reference frame while the head looked ahead.
  ///   - up: the same with the head bent back.
  ///   - left: the same with the head turned to the left.
  ///   - isUpright: true if the z axis of the reference frame is known to point up, as with the
  ///     orientation filter. A turn about another axis was then not to the left.
  ///
  /// - Throws: `turnTooSmall`, `turnsAlike`, `askew` or `otherPoses`.
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
    guard !isUpright || upward.axis == .z else { throw .otherPoses }
    self.up = upward.axis
  }

  /// Returns the map whose axes are nearest to the given ones, and the angle between both frames.
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
