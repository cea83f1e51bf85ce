// SPDX-License-Identifier: Apache-2.0

import Geometry

/// The inputs of the predictor at one moment of a motion.
struct MotionFeatures: Sendable {
  typealias Values = InlineArray<5, SIMD3<Double>>

  /// Angular velocities in the head's frame, in rad/s: the present rate of the gyroscope (zero
  /// unless the gyroscope is trusted), then the mean velocities over the last 20 ms, 20 to 50 ms
  /// ago, 50 to 100 ms ago, and 100 to 200 ms ago.
  var values = Values(repeating: .zero)
  /// Whether the history covers the 200 ms that `values` needs.
  var isComplete = false

  /// How far back the time range of each mean velocity reaches, in nanoseconds.
  static let lags: InlineArray<4, Int64> = [20_000_000, 50_000_000, 100_000_000, 200_000_000]
}

/// One moment in the predictor's memory.
struct MotionEntry: Sendable {
  var time: Int64 = 0
  /// The pose as given to the predictor.
  var pose = Quaternion.identity
  /// The orientation integrated from the gyroscope while the gyroscope is trusted, otherwise from
  /// the changes of the pose. Only differences between entries matter.
  var path = Quaternion.identity
  var features = MotionFeatures()
  var isInertial = false
}

/// The newest entries of a motion, at most 128.
struct MotionMemory: Sendable {
  /// The number of entries, a power of two. Even if entries are only `spacing` apart, they cover
  /// the 200 ms of the features plus the 200 ms until the last learner uses an entry.
  private static let capacity = 128
  /// Smallest time between entries, in nanoseconds.
  static let spacing: Int64 = 3_900_000

  private var entries = [MotionEntry](repeating: MotionEntry(), count: capacity)
  /// The number of entries ever written, which is also the number of the next entry.
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

  /// Rotates the stored poses by `turn`, into another world.
  mutating func turn(by turn: Quaternion) {
    for number in start..<end { self[number].pose = (turn * self[number].pose).normalized }
  }

  /// Returns the pose and the path at a time between the oldest entry and `newest`, interpolated.
  /// Returns nil if the time is before the oldest entry.
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
