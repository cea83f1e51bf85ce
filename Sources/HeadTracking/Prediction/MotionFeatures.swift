// SPDX-License-Identifier: Apache-2.0

import Geometry

/// The inputs of the predictor at one moment of a motion.
struct MotionFeatures: Sendable {
  typealias Values = InlineArray<5, SIMD3<Double>>

  /// Angular velocities in the head's frame, in rad/s: the gyroscope's (zero without one), then the
  /// mean velocities over the last 20 ms, and from 50 to 20, from 100 to 50 and from 200 to 100 ms
  /// ago.
  var values = Values(repeating: .zero)
  /// True if the history covers all 200 ms.
  var isComplete = false

  /// The limits of these ranges, in nanoseconds before the moment.
  static let lags: InlineArray<4, Int64> = [20_000_000, 50_000_000, 100_000_000, 200_000_000]
}

/// One moment in the predictor's memory.
struct MotionEntry: Sendable {
  var time: Int64 = 0
  /// The pose as the tracker reports it.
  var pose = Quaternion.identity
  /// The integral of the gyroscope while it is trusted, otherwise of the poses; only differences
  /// matter.
  var path = Quaternion.identity
  var features = MotionFeatures()
  var isInertial = false
}

/// The last half second of a motion, or more: 128 entries.
struct MotionMemory: Sendable {
  /// A power of two. At `spacing` it covers more than 200 ms plus the time until entries are
  /// learned from.
  private static let capacity = 128
  /// Smallest time between entries, in nanoseconds.
  static let spacing: Int64 = 3_900_000

  private var entries = [MotionEntry](repeating: MotionEntry(), count: capacity)
  /// Number of entries ever written.
  private(set) var end = 0
  /// The number of the oldest entry still stored.
  private(set) var start = 0

  subscript(number: Int) -> MotionEntry {
    get { entries[number & (Self.capacity - 1)] }
    set { entries[number & (Self.capacity - 1)] = newValue }
  }

  mutating func append(_ entry: MotionEntry) {
    self[end] = entry
    end += 1
    start = max(start, end - Self.capacity)
  }

  mutating func removeAll() { start = end }

  /// Rotates the stored poses into another world.
  mutating func turn(by turn: Quaternion) {
    for number in start..<end { self[number].pose = (turn * self[number].pose).normalized }
  }

  /// The state at a time between the oldest entry and `newest`; nil for an earlier time.
  func state(at time: Int64, before newest: MotionEntry) -> (pose: Quaternion, path: Quaternion)? {
    var later = newest
    var number = end - 1
    while number >= start {
      let earlier = self[number]
      if earlier.time <= time {
        let span = Double(max(1, later.time - earlier.time))
        let fraction = Double(time - earlier.time) / span
        return (
          .slerp(earlier.pose, later.pose, fraction), .slerp(earlier.path, later.path, fraction)
        )
      }
      later = earlier
      number -= 1
    }
    return nil
  }
}
