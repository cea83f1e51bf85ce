// SPDX-License-Identifier: Apache-2.0

/// Determines when the queue is rewritten, so that rewriting takes a limited share of one core.
///
/// A refresh is answered at once, but at most twice per interval. While rewriting finds something
/// to do, it continues without refreshes, at a slightly lower rate than they usually have. The
/// interval is 10 ms, or 20, 40, ... up to 160 ms if rendering is too slow. Times are
/// CLOCK_MONOTONIC nanoseconds.
struct RewriteSchedule {
  /// The largest share of one core's time.
  static let largestShare = 0.25
  static let shortestInterval: Int64 = 10_000_000
  static let longestInterval: Int64 = 160_000_000

  private(set) var interval = shortestInterval
  private var last = Int64.min / 2
  private var isAsked = false
  private var isContinuing = false
  /// Smoothed processor time of one rewrite [ns].
  private var cost = 0.0

  /// Requests a rewrite.
  mutating func ask() { isAsked = true }

  /// Cancels all requests because the queue is gone.
  mutating func clear() {
    isAsked = false
    isContinuing = false
  }

  /// The time of the next rewrite; nil if none is due until one is requested.
  var dueTime: Int64? {
    if isAsked { return last + interval / 2 }
    return isContinuing ? last + interval * 3 / 2 : nil
  }

  /// Notes that a rewrite was made, or found nothing to do.
  ///
  /// - Parameter processorTime: the processor time of the rewrite [ns].
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
