// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Geometry

/// Rejects invalid samples, gives the other samples regular times, and keeps the yaw continuous
/// across jumps of the reference frame.
package struct SampleConditioner: Sendable {
  private(set) var clock = SampleClock()
  private(set) var last: StampedPose?
  private var lastCount = 0
  /// The rotation about z from the tracker's present reference frame to its frame before the first
  /// jump.
  private var frame = Quaternion.identity
  /// The rotation from the head's true frame to the frame that the tracker assumes for the head.
  private var level = Quaternion.identity
  private var isReferenceNew = true
  private var reference: UInt16 = 0
  private(set) var breaks: UInt16 = 0

  /// Announces that the next sample is in a new reference frame, unrelated to the previous one.
  mutating func beginReference() {
    clock = SampleClock()
    (frame, level) = (.identity, .identity)
    isReferenceNew = true
  }

  /// Announces that the next sample follows a pause, in the same reference frame as before.
  mutating func resumeReference() {
    clock = SampleClock()
  }

  /// Assumes that the head is upright at this sample. `condition(_:)` then rotates all samples by
  /// the smallest rotation that makes the head upright at this sample. `beginReference()` removes
  /// this rotation, and the next call that returns true replaces it.
  ///
  /// - Returns: false if the head is tilted by 45 degrees or more. Nothing changes in this case.
  mutating func level(by sample: HeadSample) -> Bool {
    let up = SIMD3<Double>(0, 0, 1)
    let upInTracker = sample.headToWorld.normalized.conjugate.rotate(up)
    guard upInTracker.z > 0.5.squareRoot() else { return false }
    level = Quaternion.shortest(from: up, to: upInTracker)
    return true
  }

  /// Rotates a vector from the tracker's assumed head frame to the head's true frame.
  func inHead(_ vector: SIMD3<Double>) -> SIMD3<Double> { level.conjugate.rotate(vector) }

  /// Converts a sample to a pose with a regular time and a continuous yaw. Returns nil if the
  /// sample is not a rotation or is not newer than the previous one.
  mutating func condition(_ sample: HeadSample) -> StampedPose? {
    // The squared norm of a rotation differs from 1 only by rounding errors.
    let norm = sample.headToWorld.squaredNorm
    guard norm > 0.8, norm < 1.2 else { return nil }
    guard last.map({ sample.time > $0.arrival }) ?? true else { return nil }
    let turn = sample.headToWorld.normalized * level
    let velocity = Self.usable(sample.angularVelocity).map(inHead)
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

  /// The angle that is added to the yaw to keep the yaw continuous across jumps, in radians.
  var frameYaw: Double { 2 * realtime_atan2(frame.z, frame.w) }

  /// The sampling interval, in nanoseconds, clamped to 0.25 ... 500 ms; 20 ms until it is known.
  var interval: Int64 {
    clock.interval > 0 ? Int64(max(250_000, min(clock.interval, 500_000_000))) : 20_000_000
  }

  /// Returns the angular velocity, or nil if it is exactly zero (there may be no gyroscope) or if
  /// `finite` rejects it.
  private static func usable(_ velocity: SIMD3<Double>?) -> SIMD3<Double>? {
    finite(velocity).flatMap { $0 == .zero ? nil : $0 }
  }

  /// Returns the angular velocity, or nil if it is absent, not finite, or at least 100 rad/s.
  package static func finite(_ velocity: SIMD3<Double>?) -> SIMD3<Double>? {
    velocity.flatMap { ($0 * $0).sum() < 1e4 ? $0 : nil }
  }

  /// Returns the rotation about z that keeps the yaw continuous across a jump. `turn` is the first
  /// orientation after the jump, and `time` is its arrival time in nanoseconds.
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
