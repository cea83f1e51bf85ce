// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Geometry

/// Converts a tracker's samples (`headToWorld`) to poses for the renderer (`headToStage`).
///
/// ```
/// headToStage = anchorToWorld^-1 * driftTurn * headToWorld
/// ```
///
/// `anchorToWorld` is the pose of the `StageAnchor`, and `driftTurn` is the correction of drift, a
/// rotation about the vertical.
///
/// ## Threading
/// One thread at a time may use a value. Its functions may allocate.
struct HeadToStageConditioner: Sendable {
  private(set) var conditioner = SampleConditioner()
  var device = DeviceToWorldTimeline()
  private(set) var anchor = StageAnchor()
  /// Whether drift is corrected while the head rests near the front.
  var isRecentring = true
  var levelsOnRecenter = false
  /// The yaw of the front for the next new reference frame, in the tracker's world, in radians. If
  /// it is nil, the front is the direction that the head then faces.
  var keptFront: Double?
  private var recentring = Recentring()
  private var predictor = HeadPredictor()
  /// The angle by which the world is rotated about the vertical to correct drift, in radians.
  private var drift = 0.0
  private var wantsFront = false
  private var fronts: UInt16 = 0
  private var last: StampedPose?

  mutating func beginReference() { conditioner.beginReference() }
  mutating func resumeReference() { conditioner.resumeReference() }

  /// Moves the front to the direction that the head faces at the next sample.
  mutating func recenter() { wantsFront = true }

  /// The yaw of the front in the tracker's world, in radians; nil before the first sample and while
  /// the stage is relative to a device.
  var front: Double? {
    guard last != nil, anchor.mode == .world else { return nil }
    return Self.yaw(anchor.anchorToWorld) - drift - conditioner.frameYaw
  }

  /// Returns whether the stage is fixed to the device. `now` is in CLOCK_MONOTONIC nanoseconds.
  func isDeviceRelative(now: Int64) -> Bool {
    anchor.mode == .device && device.isFresh(now: now)
  }

  /// Converts a sample to a pose for the renderer. Returns nil if the sample is not a rotation or
  /// is not newer than the previous one.
  mutating func condition(_ sample: HeadSample) -> StampedPose? {
    let before = last
    if wantsFront, levelsOnRecenter, conditioner.level(by: sample) { predictor.restart() }
    guard var pose = conditioner.condition(sample) else { return nil }
    let headToWorld = pose.orientation
    let isNew = before?.reference != pose.reference
    if isNew {
      setFront(keptFront.map { $0 + conditioner.frameYaw } ?? Self.yaw(headToWorld), pose)
      keptFront = nil
    } else if wantsFront {
      turnFront(to: Self.yaw(Self.aboutVertical(drift) * headToWorld), pose)
    } else {
      anchor.follow(device, at: pose.time, now: pose.arrival)
    }
    wantsFront = false
    pose.orientation = headToStage(headToWorld)
    if !isNew { takeDriftBack(&pose, headToWorld, since: before) }
    finish(&pose, sample: sample, before: before)
    last = pose
    return pose
  }

  private mutating func setFront(_ yaw: Double, _ pose: StampedPose) {
    drift = 0
    anchor.set(front: yaw, device: device, at: pose.time, now: pose.arrival)
    recentring = Recentring()
    predictor.restart()
  }

  private mutating func turnFront(to yaw: Double, _ pose: StampedPose) {
    anchor.follow(device, at: pose.time, now: pose.arrival)
    let old = anchor.anchorToWorld
    anchor.set(front: yaw, device: device, at: pose.time, now: pose.arrival)
    predictor.turn(by: anchor.anchorToWorld.conjugate * old)
    recentring.restart(at: 0)
    fronts &+= 1
  }

  private func headToStage(_ headToWorld: Quaternion) -> Quaternion {
    (anchor.anchorToWorld.conjugate * Self.aboutVertical(drift) * headToWorld).normalized
  }

  private mutating func takeDriftBack(
    _ pose: inout StampedPose, _ headToWorld: Quaternion, since before: StampedPose?
  ) {
    guard isRecentring, let before else { return }
    let nose = pose.orientation.rotate(SIMD3(1, 0, 0))
    let level = (nose.x * nose.x + nose.y * nose.y).squareRoot()
    let step = recentring.step(
      yaw: Self.yaw(pose.orientation), elevation: realtime_atan2(nose.z, level),
      seconds: Double(pose.time - before.time) * 1e-9)
    guard step != 0 else { return }
    drift += step
    pose.orientation = headToStage(headToWorld)
  }

  private mutating func finish(
    _ pose: inout StampedPose, sample: HeadSample, before: StampedPose?
  ) {
    pose.fronts = fronts
    let taken = pose.orientation.conjugate.rotate(anchor.angularVelocity)
    if pose.hasVelocity { pose.angularVelocity -= taken }
    if let before { pose.takeSign(of: before) }
    if let before, before.breaks != pose.breaks || pose.time - before.time > 250_000_000 {
      predictor.restart()
    }
    // If the angular velocity is zero, the head may be at rest, or there may be no gyroscope; the
    // predictor finds out which.
    let velocity = SampleConditioner.finite(sample.angularVelocity).map {
      conditioner.inHead($0) - taken
    }
    pose.forecast = predictor.forecast(
      time: pose.time, pose: pose.orientation, angularVelocity: velocity)
  }

  /// Returns the azimuth of the nose or, if the nose points almost straight up or down, the
  /// rotation about the vertical, in radians.
  static func yaw(_ pose: Quaternion) -> Double {
    let nose = pose.rotate(SIMD3(1, 0, 0))
    let isLevel = nose.x * nose.x + nose.y * nose.y > 0.01
    return isLevel ? realtime_atan2(nose.y, nose.x) : 2 * realtime_atan2(pose.z, pose.w)
  }

  private static func aboutVertical(_ angle: Double) -> Quaternion {
    Quaternion(w: realtime_cos(angle / 2), x: 0, y: 0, z: realtime_sin(angle / 2))
  }
}
