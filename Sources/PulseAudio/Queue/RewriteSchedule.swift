// SPDX-License-Identifier: Apache-2.0

/// Decides when to rewrite the queue, and limits the processor time of rewriting.
///
/// Refreshes (calls of `ask`) lead to at most two rewrites per interval. Without a refresh,
/// rewrites continue every 1.5 intervals until one finds that the queue needs no change. The
/// interval is 10, 20, 40, 80 or 160 ms; slow rendering lengthens it. Times are CLOCK_MONOTONIC
/// nanoseconds.
struct RewriteSchedule {
  /// The largest share of one core's time that rewriting should use. If even the longest interval
  /// is too short, rewriting uses more.
  static let largestShare = 0.25
  static let shortestInterval: Int64 = 10_000_000
  static let longestInterval: Int64 = 160_000_000

  private(set) var interval = shortestInterval
  private var last = Int64.min / 2
  private var isAsked = false
  private var isContinuing = false
  /// The smoothed processor time of one rewrite [ns]. It rises faster than it falls.
  private var cost = 0.0

  mutating func ask() { isAsked = true }

  mutating func clear() {
    isAsked = false
    isContinuing = false
  }

  /// The time of the next rewrite; nil if no rewrite is planned.
  var dueTime: Int64? {
    if isAsked { return last + interval / 2 }
    return isContinuing ? last + interval * 3 / 2 : nil
  }

  /// Notes the end of a rewrite, and adapts the interval.
  ///
  /// - Parameters:
  ///   - processorTime: the processor time of the rewrite [ns].
  ///   - hasWritten: whether rewriting continues without a refresh.
  mutating func done(at now: Int64, processorTime: Int64, hasWritten: Bool) {
    last = now
    isAsked = false
    isContinuing = hasWritten
    cost += (Double(processorTime) - cost) / (Double(processorTime) > cost ? 2 : 16)
    // Choose the shortest interval in which two rewrites do not exceed `largestShare`. If there is
    // none, choose the longest interval.
    let needed = Int64(2 * cost / Self.largestShare)
    interval = Self.shortestInterval
    while interval < needed, interval < Self.longestInterval { interval *= 2 }
  }
}
