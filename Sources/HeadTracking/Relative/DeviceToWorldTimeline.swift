// SPDX-License-Identifier: Apache-2.0

import Geometry

/// The recent poses of the device that the stage is fixed to.
struct DeviceToWorldTimeline: Sendable {
  private var conditioner = SampleConditioner()
  private var poses: [StampedPose] = []

  /// Largest number of poses. When it is reached, the older half is removed.
  private static let capacity = 256
  /// Longest extrapolation beyond the newest sample, in nanoseconds.
  private static let longest: Int64 = 60_000_000

  var newest: StampedPose? { poses.last }

  mutating func beginReference() { conditioner.beginReference() }
  mutating func resumeReference() { conditioner.resumeReference() }

  /// Adds a sample, unless it is not a rotation or is not newer than the previous one. Returns true
  /// if the tracker's reference frame jumped before the added sample.
  mutating func push(_ sample: HeadSample) -> Bool {
    let breaks = conditioner.breaks
    guard let pose = conditioner.condition(sample) else { return false }
    if let newest, newest.reference != pose.reference { poses.removeAll() }
    if poses.count == Self.capacity { poses.removeFirst(Self.capacity / 2) }
    poses.append(pose)
    return pose.breaks != breaks
  }

  /// Returns whether there is a sample that is not stale. `now` is in CLOCK_MONOTONIC nanoseconds.
  func isFresh(now: Int64) -> Bool {
    guard let newest else { return false }
    return now - newest.arrival <= HeadToStageTimeline.Settings.default.staleLimit(newest.interval)
  }

  /// Returns `deviceToWorld` at a time: interpolated between samples, constant before the oldest
  /// sample, and extrapolated by at most 60 ms after the newest. Returns nil if there are no
  /// samples.
  func deviceToWorld(at time: Int64) -> Quaternion? {
    guard let newest else { return nil }
    if time >= newest.time {
      let seconds = Double(min(time - newest.time, Self.longest)) * 1e-9
      return newest.orientation * Quaternion(rotationVector: velocity(at: time) * seconds)
    }
    guard let later = poses.firstIndex(where: { $0.time > time }), later > 0 else {
      return poses.first?.orientation
    }
    let (a, b) = (poses[later - 1], poses[later])
    let fraction = Double(time - a.time) / Double(max(1, b.time - a.time))
    return .slerp(a.orientation, b.orientation, fraction)
  }

  /// Returns the angular velocity at a time, in the device's frame, in rad/s; zero if unknown.
  func velocity(at time: Int64) -> SIMD3<Double> {
    guard let last = poses.last(where: { $0.time <= time }) ?? poses.first else { return .zero }
    if last.hasVelocity { return last.angularVelocity }
    // Average over at least 50 ms, so that the sensor's noise matters little.
    guard let first = poses.last(where: { $0.time <= last.time - 50_000_000 }) else { return .zero }
    let turn = (first.orientation.conjugate * last.orientation).rotationVector
    return turn / (Double(last.time - first.time) * 1e-9)
  }
}
