// SPDX-License-Identifier: Apache-2.0

import Geometry

/// A moment of a motion as the predictor sees it.
struct MotionFeatures: Sendable {
  typealias Values = InlineArray<5, SIMD3<Double>>

  /// Head frame, rad/s: the gyroscope (zero without one), then the mean velocities over the last
  /// 20 ms, from 50 to 20, from 100 to 50 and from 200 to 100 ms ago.
  var values = Values(repeating: .zero)
  /// True where the history reaches back over all of it.
  var isComplete = false

  /// Nanoseconds back.
  static let lags: InlineArray<4, Int64> = [20_000_000, 50_000_000, 100_000_000, 200_000_000]
}

/// One remembered moment.
struct MotionEntry: Sendable {
  var time: Int64 = 0
  /// As the tracker says.
  var pose = Quaternion.identity
  /// The gyroscope's integral where it is trusted, the poses elsewhere; only differences count.
  var path = Quaternion.identity
  var features = MotionFeatures()
  var isInertial = false
}

/// The last quarter of a second of a motion.
struct MotionMemory: Sendable {
  /// A power of two; with `spacing` more than 200 ms and the time in which entries are learned
  /// from.
  private static let capacity = 128
  /// Entries are at least this far apart, nanoseconds.
  static let spacing: Int64 = 3_900_000

  private var entries = [MotionEntry](repeating: MotionEntry(), count: capacity)
  /// Entries written since the beginning.
  private(set) var end = 0
  /// The oldest that is still there.
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

  /// Turns what is remembered into another world.
  mutating func turn(by turn: Quaternion) {
    for number in start..<end { self[number].pose = (turn * self[number].pose).normalized }
  }

  /// The state at a time between the oldest entry and `newest`; nil before.
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
