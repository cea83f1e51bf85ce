// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Geometry

/// The first step from a tracker's sample: refuses garbage, regularises times, and carries the yaw
/// across jumps of the tracker's reference frame.
package struct SampleConditioner: Sendable {
  private(set) var clock = SampleClock()
  private(set) var last: StampedPose?
  private var lastCount = 0
  /// Turns the tracker's reference frame into the one the listener started in; about z only.
  private var frame = Quaternion.identity
  private var isReferenceNew = true
  private var reference: UInt16 = 0
  private(set) var breaks: UInt16 = 0

  /// The next sample comes from another reference frame, in which the head looks to the front.
  mutating func beginReference() {
    clock = SampleClock()
    frame = .identity
    isReferenceNew = true
  }

  /// The next sample comes after a pause, from the frame that was.
  mutating func resumeReference() {
    clock = SampleClock()
  }

  /// The sample for the renderer, or nil where the sample is not usable.
  mutating func condition(_ sample: HeadSample) -> StampedPose? {
    // Rounding leaves a norm of one part in a hundred at most; anything else is not a rotation.
    let norm = sample.headToWorld.squaredNorm
    guard norm > 0.8, norm < 1.2 else { return nil }
    guard last.map({ sample.time > $0.arrival }) ?? true else { return nil }
    let turn = sample.headToWorld.normalized
    let velocity = Self.usable(sample.angularVelocity)
    let isBreak = last != nil && !isReferenceNew && sample.discontinuityCount != lastCount
    if isReferenceNew { reference &+= 1 }
    if isBreak { breaks &+= 1 }
    if isBreak, let last { frame = Self.continuation(of: last, at: sample.time, in: turn) }
    var pose = StampedPose(
      time: clock.stamp(sample.time), arrival: sample.time, interval: interval,
      orientation: frame * turn, angularVelocity: velocity ?? .zero,
      hasVelocity: velocity != nil, reference: reference, breaks: breaks)
    if let last { pose.takeSign(of: last) }
    isReferenceNew = false
    lastCount = sample.discontinuityCount
    last = pose
    return pose
  }

  /// How far the tracker's world has been turned about the vertical, radians.
  var frameYaw: Double { 2 * realtime_atan2(frame.z, frame.w) }

  /// 20 ms until the tracker's own is known.
  private var interval: Int64 {
    clock.interval > 0 ? Int64(max(250_000, min(clock.interval, 500_000_000))) : 20_000_000
  }

  /// A gyroscope that says exactly zero is none; one beyond 100 rad/s is broken.
  private static func usable(_ velocity: SIMD3<Double>?) -> SIMD3<Double>? {
    finite(velocity).flatMap { $0 == .zero ? nil : $0 }
  }

  /// A gyroscope that may be believed for now.
  package static func finite(_ velocity: SIMD3<Double>?) -> SIMD3<Double>? {
    velocity.flatMap { ($0 * $0).sum() < 1e4 ? $0 : nil }
  }

  /// The turn about z that makes the yaw go on from where the head would be now.
  private static func continuation(
    of last: StampedPose, at time: Int64, in turn: Quaternion
  ) -> Quaternion {
    let seconds = Double(min(time - last.arrival, 50_000_000)) * 1e-9
    let step = last.hasVelocity ? last.angularVelocity * seconds : .zero
    let expected = last.orientation * Quaternion(rotationVector: step)
    let jump = expected * turn.conjugate
    return Quaternion(w: jump.w, x: 0, y: 0, z: jump.z).normalized
  }
}
