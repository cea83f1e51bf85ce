// SPDX-License-Identifier: Apache-2.0

import Geometry

/// The inputs of the predictor at one moment of a motion.
struct MotionFeatures: Sendable {
  typealias Values = InlineArray<5, SIMD3<Double>>

  /// Angular velocities in the head's frame, in rad/s: the present reading of the gyroscope (zero
  /// if it is not trusted), then the mean velocities 0 to 20, 20 to 50, 50 to 100 and 100 to 200 ms
  /// ago.
  var values = Values(repeating: .zero)
  /// Whether the history covers the 200 ms that `values` needs.
  var isComplete = false

  /// How far back each mean velocity reaches, in nanoseconds.
  static let lags: InlineArray<4, Int64> = [20_000_000, 50_000_000, 100_000_000, 200_000_000]
}

struct MotionEntry: Sendable {
  var time: Int64 = 0
  /// The pose given to the predictor, in the present world frame.
  var pose = Quaternion.identity
  /// The orientation integrated from the gyroscope if it is trusted, otherwise from the poses. Only
  /// differences between entries matter.
  var path = Quaternion.identity
  var features = MotionFeatures()
  var isInertial = false
}

/// The newest entries of a motion, at most 128.
struct MotionMemory: Sendable {
  /// The largest number of entries, a power of two. A full memory covers the 200 ms of the features
  /// plus the longest look-ahead of 200 ms.
  private static let capacity = 128
  /// Smallest time between entries, in nanoseconds.
  static let spacing: Int64 = 3_900_000

  private var entries = [MotionEntry](repeating: MotionEntry(), count: capacity)
  /// The number of the next entry.
  private(set) var end = 0
  /// The number of the oldest stored entry.
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

  mutating func turn(by turn: Quaternion) {
    for number in start..<end { self[number].pose = (turn * self[number].pose).normalized }
  }

  /// Returns the interpolated pose and path at a time; nil if no entry is that old.
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
