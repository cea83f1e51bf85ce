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

  /// The newest sample; a still head at time 0 when there is none.
  var newest: StampedPose {
    @_noLocks get { poses[head] }
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

  /// The pose between the samples around a time; the oldest before them, the newest after them.
  @_noLocks
  func interpolate(_ time: Int64) -> Quaternion {
    var later = poses[head]
    guard time < later.time else { return later.headToWorld }
    var age = 1
    while age < count {
      let earlier = poses[(head &- age) & (Self.capacity - 1)]
      if earlier.time <= time {
        let fraction = Double(time - earlier.time) / Double(max(1, later.time - earlier.time))
        return Quaternion.slerp(earlier.headToWorld, later.headToWorld, fraction)
      }
      later = earlier
      age += 1
    }
    return later.headToWorld
  }
}
