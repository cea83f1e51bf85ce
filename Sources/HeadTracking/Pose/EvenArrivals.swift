// SPDX-License-Identifier: Apache-2.0

/// Assigns times to the samples of a tracker that sends at a constant rate without timestamps.
///
/// The times increase. They are not later than the arrivals, except by microseconds in a burst.
package struct EvenArrivals: Sendable {
  private var clock = SampleClock()
  private var times = ReadingTimes()

  package init() {}

  /// Returns the time of a sample from its arrival time, both in CLOCK_MONOTONIC nanoseconds.
  package mutating func time(_ arrival: Int64) -> Int64 {
    times.times(newest: min(clock.stamp(arrival), arrival), count: 1, spacing: 0)[0]
  }
}
