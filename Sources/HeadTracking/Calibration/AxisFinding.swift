// SPDX-License-Identifier: Apache-2.0

public import Geometry
import Glibc

/// How a tracker lies on the head, from three poses that the head was held in.
///
/// Looking up turns the head about its axis to the right, turning left about its axis upwards. The
/// two turns, as the tracker saw them, tell where those axes are in its own frame; and the turn to
/// the left tells which way is up in the frame that its poses refer to.
public struct AxisFinding: Sendable, Equatable {
  /// From the tracker's axes to the head's.
  public let axes: AxisMap
  /// The axis of the tracker's reference frame that points up.
  public let up: SignedAxis
  /// How far the axes as measured lie from `axes`, degrees.
  public let misalignmentDegrees: Double
  public let upTurnDegrees: Double
  public let leftTurnDegrees: Double

  /// A smaller turn is too uncertain, degrees.
  public static let smallestUpTurn = 15.0
  public static let smallestLeftTurn = 25.0
  /// What people do not do exactly, degrees.
  static let largestMisalignment = 30.0

  /// - Parameters:
  ///   - ahead: the tracker's pose in its own reference frame while the head looked ahead.
  ///   - up: the same with the head bent back.
  ///   - left: the same with the head turned to the left.
  ///   - isUpright: the reference frame is known to have its z axis upwards, as that of the
  ///     orientation filter has; a turn to the left about another axis was none then.
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

  /// The map whose axes are nearest to those given, and the angle between both frames.
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
