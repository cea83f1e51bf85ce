// SPDX-License-Identifier: Apache-2.0

public import Geometry
import Glibc

/// The mounting and the conventions of a tracker that reports its orientation relative to the
/// vertical, found from three poses: ahead, up and left.
///
/// In the pose ahead, the world's vertical gives the head's upward axis. The rotation from ahead to
/// up gives the head's rightward axis. The rotation from ahead to left must be about the upward
/// axis. The conventions whose axes fit best are chosen.
public struct MountingFinding: Sendable, Equatable {
  public let mounting: TrackerMounting
  /// The larger of the axis errors of the two turns (up and left), in degrees.
  public let misalignmentDegrees: Double
  /// The measured turn to the left, in degrees.
  public let leftTurnDegrees: Double

  /// The range of accepted turns to the left, in degrees.
  public static let leftTurn = 70.0...110.0

  /// Finds the mounting from three orientations that the tracker reported.
  ///
  /// - Parameters:
  ///   - ahead: the orientation while the head is upright and looks ahead.
  ///   - up: the orientation while the head is bent back.
  ///   - left: the orientation while the head is turned to the left by 90 degrees.
  ///
  /// - Throws: `turnTooSmall`, `notAQuarter` or `otherPoses` if no conventions fit; `mirrored` if
  ///   the poses do not show whether the tracker reports inverse orientations or its world is
  ///   upside down.
  public init(
    ahead: Quaternion, up: Quaternion, left: Quaternion
  ) throws(CalibrationError) {
    var fits: [Fit] = []
    var best: Fit?
    for components in TrackerMounting.Components.allCases {
      for (isInverse, isUpsideDown) in [(false, false), (false, true), (true, false), (true, true)]
      {
        let conventions = TrackerMounting(
          rotation: .identity, components: components, isInverse: isInverse,
          isUpsideDown: isUpsideDown)
        let poses = [ahead, up, left].map(conventions.trackerToWorld)
        guard let fit = Fit(conventions, poses) else { continue }
        fits.append(fit)
        // Of almost equally good fits, keep the first, because its conventions are more likely.
        if fit.misalignment < (best?.misalignment ?? .infinity) - 0.01 { best = fit }
      }
    }
    guard let best else { throw Self.reason(ahead, up, left) }
    if fits.contains(where: best.isAmbiguous) { throw .mirrored }
    mounting = best.mounting
    misalignmentDegrees = best.misalignment * 180 / .pi
    leftTurnDegrees = best.leftTurn * 180 / .pi
  }

  /// Conventions under which the measured poses match the requested poses.
  private struct Fit {
    var mounting: TrackerMounting
    /// The larger axis error of the two turns, in radians.
    var misalignment: Double
    var leftTurn: Double
    /// The head's upward axis in the tracker's axes.
    var top: SIMD3<Double>

    /// Returns whether `other` fits about as well but gives other orientations.
    ///
    /// If the tracker's z axis is nearly vertical, the poses cannot distinguish a tracker whose
    /// world is upside down from one that reports inverse orientations. Nor can they distinguish a
    /// tracker with both properties from one with neither. In the second case, the result is false,
    /// because a tracker with neither is more likely.
    func isAmbiguous(with other: Fit) -> Bool {
      let (own, others) = (mounting, other.mounting)
      return own.isInverse != own.isUpsideDown && own.components == others.components
        && own.isInverse != others.isInverse && own.isUpsideDown != others.isUpsideDown
        && abs(top.z) > cos(0.25) && other.misalignment < misalignment + 0.05
    }

    /// Returns nil if `poses` (ahead, up and left) do not match the requested poses.
    init?(_ conventions: TrackerMounting, _ poses: [Quaternion]) {
      let limit = AxisFinding.largestMisalignment * .pi / 180
      let top = poses[0].conjugate.rotate(SIMD3(0, 0, 1))
      let upTurn = (poses[0].conjugate * poses[1]).rotationVector
      let leftTurn = (poses[0].conjugate * poses[2]).rotationVector
      guard upTurn.length > AxisFinding.smallestUpTurn * .pi / 180, leftTurn.length > 0.1 else {
        return nil
      }
      // Looking up rotates about the axis to the right.
      let side = -upTurn / upTurn.length
      let sideError = abs(.pi / 2 - acos(max(-1, min(1, (side * top).sum()))))
      let turn = leftTurn / leftTurn.length
      let turnError = acos(max(-1, min(1, (turn * top).sum())))
      let degrees = leftTurn.length * 180 / .pi
      guard sideError < limit, turnError < limit, MountingFinding.leftTurn.contains(degrees)
      else { return nil }
      let flat = side - top * (side * top).sum()
      let leftward = flat / flat.length
      let front = SIMD3.cross(leftward, top)
      self.top = top
      mounting = conventions
      mounting.rotation = Self.rotation(front: front, left: leftward)
      misalignment = max(sideError, turnError)
      self.leftTurn = leftTurn.length
    }

    /// Returns the rotation that takes these directions to the x and y axes.
    private static func rotation(front: SIMD3<Double>, left: SIMD3<Double>) -> Quaternion {
      let first = Quaternion.shortest(from: front, to: SIMD3(1, 0, 0))
      let now = first.rotate(left)
      let angle = -atan2(now.z, now.y)
      return (Quaternion(rotationVector: SIMD3(angle, 0, 0)) * first).normalized
    }
  }

  private static func reason(
    _ ahead: Quaternion, _ up: Quaternion, _ left: Quaternion
  ) -> CalibrationError {
    let degrees = 180 / Double.pi
    let upTurn = Quaternion.angle(between: ahead, up) * degrees
    let leftTurn = Quaternion.angle(between: ahead, left) * degrees
    if upTurn < AxisFinding.smallestUpTurn { return .turnTooSmall(.up, degrees: upTurn) }
    if !Self.leftTurn.contains(leftTurn) { return .notAQuarter(degrees: leftTurn) }
    return .otherPoses
  }
}
