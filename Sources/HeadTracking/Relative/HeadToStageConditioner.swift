// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Geometry

/// Turns a tracker's samples, `headToWorld`, into poses for the renderer, `headToStage`: refuses
/// garbage, sets the front, takes the device's motion off, takes drift back, and predicts.
///
/// ```
/// headToStage = anchorToWorld^-1 * driftTurn * headToWorld
/// ```
///
/// ## Threading
/// A value that belongs to one thread; it may allocate.
struct HeadToStageConditioner: Sendable {
  private(set) var conditioner = SampleConditioner()
  var device = DeviceToWorldTimeline()
  private(set) var anchor = StageAnchor()
  /// Whether drift is taken back while the head rests near the front.
  var isRecentring = true
  /// The yaw of the front in the tracker's world for the next new reference, radians; nil: where
  /// the head looks then.
  var keptFront: Double?
  private var recentring = Recentring()
  private var predictor = HeadPredictor()
  /// The world's turn about the vertical that takes the tracker's drift back, radians.
  private var drift = 0.0
  private var wantsFront = false
  private var fronts: UInt16 = 0
  private var last: StampedPose?

  mutating func beginReference() { conditioner.beginReference() }
  mutating func resumeReference() { conditioner.resumeReference() }

  /// Where the head looks at the next sample becomes the front.
  mutating func recenter() { wantsFront = true }

  /// The yaw in the tracker's world that is the front, radians; nil before the first sample, and
  /// while the front is a device's.
  var front: Double? {
    guard last != nil, anchor.mode == .world else { return nil }
    return Self.yaw(anchor.anchorToWorld) - drift - conditioner.frameYaw
  }

  /// True while the stage stands in the device.
  func isDeviceRelative(now: Int64) -> Bool {
    anchor.mode == .device && device.isFresh(now: now)
  }

  /// The sample for the renderer, or nil where the sample is not usable.
  mutating func condition(_ sample: HeadSample) -> StampedPose? {
    let before = last
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
    // A gyroscope that says zero may be one that rests; the predictor finds out.
    let velocity = SampleConditioner.finite(sample.angularVelocity).map { $0 - taken }
    pose.forecast = predictor.forecast(
      time: pose.time, pose: pose.orientation, angularVelocity: velocity)
  }

  /// Where the nose points on the horizon, or, looking straight up or down, the turn about the
  /// vertical; radians.
  static func yaw(_ pose: Quaternion) -> Double {
    let nose = pose.rotate(SIMD3(1, 0, 0))
    let isLevel = nose.x * nose.x + nose.y * nose.y > 0.01
    return isLevel ? realtime_atan2(nose.y, nose.x) : 2 * realtime_atan2(pose.z, pose.w)
  }

  private static func aboutVertical(_ angle: Double) -> Quaternion {
    Quaternion(w: realtime_cos(angle / 2), x: 0, y: 0, z: realtime_sin(angle / 2))
  }
}
