// SPDX-License-Identifier: Apache-2.0

import Geometry

/// The last samples, newest first.
struct PoseHistory: Sendable {
  private static let capacity = 32
  private var poses = InlineArray<32, StampedPose>(repeating: PoseHistory.none)
  private var count = 0
  private var head = 0

  private static var none: StampedPose {
    @_noLocks get {
      StampedPose(
        time: 0, arrival: 0, interval: 0, headToWorld: Quaternion(w: 1, x: 0, y: 0, z: 0))
    }
  }

  var isEmpty: Bool {
    @_noLocks get { count == 0 }
  }

  /// The newest sample; a still head at time 0 when there is none. By itself, because who asks the ring
  /// for one of its samples is given a copy of all.
  private(set) var newest = PoseHistory.none

  /// Where the head is a time after the newest sample, as that one foresees it.
  ///
  /// - Parameter seconds: not negative.
  @_noLocks
  func foreseen(after seconds: Double) -> Quaternion {
    newest.headToWorld * Quaternion(rotationVector: newest.forecast.turn(after: seconds))
  }

  @_noLocks
  mutating func append(_ pose: StampedPose) {
    head = (head + 1) & (Self.capacity - 1)
    poses[head] = pose
    newest = pose
    count = min(count + 1, Self.capacity)
  }

  @_noLocks
  mutating func removeAll() {
    count = 0
  }

  /// The pose between the samples around a time; the oldest before them, the newest after them.
  @_noLocks
  func interpolate(_ time: Int64) -> Quaternion {
    var later = head
    guard time < newest.time else { return newest.headToWorld }
    var age = 1
    while age < count {
      let earlier = (head &- age) & (Self.capacity - 1)
      if poses[earlier].time <= time {
        let span = max(1, poses[later].time - poses[earlier].time)
        return Quaternion.slerp(
          poses[earlier].headToWorld, poses[later].headToWorld,
          Double(time - poses[earlier].time) / Double(span))
      }
      later = earlier
      age += 1
    }
    return poses[later].headToWorld
  }
}
