// SPDX-License-Identifier: Apache-2.0

/// Determines when the queue is rewritten, and limits the share of one core that rewriting takes.
///
/// A refresh is answered at once, but at most twice per interval. Until the queue needs no change,
/// rewrites continue without refreshes, one every 1.5 intervals. The interval is 10 ms, or 20, 40,
/// 80 or 160 ms if rendering is slow. Times are CLOCK_MONOTONIC nanoseconds.
struct RewriteSchedule {
  /// The largest share of one core's time that rewriting may take.
  static let largestShare = 0.25
  static let shortestInterval: Int64 = 10_000_000
  static let longestInterval: Int64 = 160_000_000

  private(set) var interval = shortestInterval
  private var last = Int64.min / 2
  private var isAsked = false
  private var isContinuing = false
  /// Smoothed processor time of one rewrite, which rises faster than it falls [ns].
  private var cost = 0.0

  /// Requests a rewrite.
  mutating func ask() { isAsked = true }

  /// Cancels all requests, and the rewrites that continue without one.
  mutating func clear() {
    isAsked = false
    isContinuing = false
  }

  /// The time of the next rewrite; nil if no rewrite is planned.
  var dueTime: Int64? {
    if isAsked { return last + interval / 2 }
    return isContinuing ? last + interval * 3 / 2 : nil
  }

  /// Notes that a rewrite ended, and adapts the interval to its processor time.
  ///
  /// - Parameters:
  ///   - processorTime: the processor time of the rewrite [ns].
  ///   - hasWritten: false if the queue needed no change. Otherwise rewriting continues without a
  ///     refresh.
  mutating func done(at now: Int64, processorTime: Int64, hasWritten: Bool) {
    last = now
    isAsked = false
    isContinuing = hasWritten
    cost += (Double(processorTime) - cost) / (Double(processorTime) > cost ? 2 : 16)
    // Two rewrites per interval must not exceed the share.
    let needed = Int64(2 * cost / Self.largestShare)
    interval = Self.shortestInterval
    while interval < needed, interval < Self.longestInterval { interval *= 2 }
  }
}
