// SPDX-License-Identifier: Apache-2.0

/// Converts the ticks of a tracker's own clock to CLOCK_MONOTONIC.
///
/// A report can arrive late, but never early. The offset between the clocks is therefore estimated
/// as the minimum of (arrival - device time) over the current and the previous period of one
/// second. A jump of the device's clock restarts the conversion. Each converted time is at least
/// 1 us later than the previous one.
package struct DeviceClock: Sendable {
  let nanosecondsPerTick: Double
  private let mask: UInt64
  /// Time after which the counter wraps, in nanoseconds; infinite for 48 bits or more.
  private let range: Double

  private var lastTicks: UInt64?
  private var lastArrival: Int64 = 0
  private var lastTime = Int64.min
  /// Device time since the conversion started, in nanoseconds.
  private var elapsed = 0.0
  private var offset = Minimum()
  private var lateness = 0

  /// The duration of a period for the minimum offset, in nanoseconds.
  private static let window: Int64 = 1_000_000_000
  private static let jump = 0.5e9
  /// Delay above which a sample counts as late, in nanoseconds. Samples in a burst or after a pause
  /// never count as late. More than 20 consecutive late samples restart the conversion.
  private static let tooLate: Int64 = 50_000_000

  private struct Minimum {
    var previous = Int64.max
    var current = Int64.max
    var begin = Int64.min
  }

  package init(nanosecondsPerTick: Double, bits: Int = 64) {
    self.nanosecondsPerTick = nanosecondsPerTick
    mask = bits >= 64 ? .max : (1 << UInt64(bits)) - 1
    range = bits >= 48 ? .infinity : Double(mask) * nanosecondsPerTick + nanosecondsPerTick
  }

  /// Returns the time of a sample, from the device's counter and the arrival time of the report.
  /// Both times are in CLOCK_MONOTONIC nanoseconds.
  package mutating func time(ticks: UInt64, arrival: Int64) -> Int64 {
    let ticks = ticks & mask
    if let last = lastTicks {
      advance(ticks &- last & mask, waited: Double(arrival - lastArrival), arrival)
    } else {
      anchor(arrival)
    }
    lastTicks = ticks
    lastArrival = arrival
    learn(arrival)
    let device = Int64(elapsed)
    let time = min(arrival, device + min(offset.previous, offset.current))
    lastTime = max(time, lastTime &+ (lastTime == .min ? 0 : 1000))
    return lastTime
  }

  private mutating func advance(_ step: UInt64, waited: Double, _ arrival: Int64) {
    var nanoseconds = Double(step) * nanosecondsPerTick
    let isBackwards = range == .infinity ? step > mask / 2 : range > 60e9 && nanoseconds > range / 2
    if !isBackwards, range < 10e9, waited - nanoseconds > 0.75 * range {
      nanoseconds += ((waited - nanoseconds) / range).rounded() * range
    }
    if isBackwards || nanoseconds > max(waited, 0) + Self.jump { return anchor(arrival) }
    elapsed += nanoseconds
    let late = arrival - Int64(elapsed) - min(offset.previous, offset.current)
    let isLive = waited > 0.5 * nanoseconds && waited < 1e9
    lateness = late > Self.tooLate && isLive ? lateness + 1 : 0
    if lateness > 20 { anchor(arrival) }
  }

  private mutating func anchor(_ arrival: Int64) {
    elapsed = 0
    lateness = 0
    offset = Minimum(previous: .max, current: arrival, begin: arrival)
  }

  private mutating func learn(_ arrival: Int64) {
    let now = arrival - Int64(elapsed)
    if arrival - offset.begin > Self.window {
      offset = Minimum(previous: offset.current, current: now, begin: arrival)
    } else {
      offset.current = min(offset.current, now)
    }
  }
}

/// Computes evenly spaced times for the readings in a report, in nanoseconds. All are later than
/// the times of the previous report. The last one is `newest`, or later if necessary.
struct ReadingTimes: Sendable {
  private var last = Int64.min

  mutating func times(newest: Int64, count: Int, spacing: Int64) -> [Int64] {
    guard count > 0 else { return [] }
    var (newest, step) = (newest, spacing)
    if last != .min {
      newest = max(newest, last + Int64(count) * 1000)
      step = min(spacing, (newest - last) / Int64(count))
    }
    last = newest
    return (0..<count).map { newest - Int64(count - 1 - $0) * step }
  }
}
