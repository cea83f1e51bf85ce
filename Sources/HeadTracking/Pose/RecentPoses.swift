// SPDX-License-Identifier: Apache-2.0

import Geometry

/// A ring of the newest samples, at most 32.
struct RecentPoses: Sendable {
  private static let capacity = 32
  private var poses = InlineArray<32, StampedPose>(repeating: RecentPoses.none)
  private var count = 0
  private var head = 0

  static var none: StampedPose {
    @_noLocks get {
      StampedPose(
        time: 0, arrival: 0, interval: 0, orientation: Quaternion(w: 1, x: 0, y: 0, z: 0))
    }
  }

  var isEmpty: Bool {
    @_noLocks get { count == 0 }
  }

  @_noLocks
  mutating func append(_ pose: StampedPose) {
    head = (head + 1) & (Self.capacity - 1)
    poses[head] = pose
    count = min(count + 1, Self.capacity)
  }

  @_noLocks
  mutating func removeAll() {
    count = 0
  }

  /// Returns the pose at a time, interpolated between samples and constant beyond them.
  ///
  /// Inlining is disabled, because the caller would otherwise copy every sample.
  @_noLocks
  @inline(never)
  func interpolate(_ time: Int64) -> Quaternion {
    var later = head
    guard time < poses[head].time else { return poses[head].orientation }
    var age = 1
    while age < count {
      let earlier = (head &- age) & (Self.capacity - 1)
      if poses[earlier].time <= time {
        let span = max(1, poses[later].time - poses[earlier].time)
        return Quaternion.slerp(
          poses[earlier].orientation, poses[later].orientation,
          Double(time - poses[earlier].time) / Double(span))
      }
      later = earlier
      age += 1
    }
    return poses[later].orientation
  }
}
