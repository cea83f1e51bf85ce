// SPDX-License-Identifier: Apache-2.0

/// When the queue is rendered again, so that it takes a bounded share of a core.
///
/// A refresh is answered at once, but no more often than twice per interval; while rewriting finds
/// something to do it goes on without refreshes, a little slower than they usually come. The
/// interval is 10 ms, or 20, 40, ... where the rendering is too dear. Times are CLOCK_MONOTONIC
/// nanoseconds.
struct RewriteSchedule {
  /// Of one core's time.
  static let largestShare = 0.25
  static let shortestInterval: Int64 = 10_000_000
  static let longestInterval: Int64 = 160_000_000

  private(set) var interval = shortestInterval
  private var last = Int64.min / 2
  private var isAsked = false
  private var isContinuing = false
  /// Processor time that one rewrite takes [ns], smoothed.
  private var cost = 0.0

  /// Somebody wants the queue to be looked at.
  mutating func ask() { isAsked = true }

  /// Nothing is wanted any more: the queue is gone.
  mutating func clear() {
    isAsked = false
    isContinuing = false
  }

  /// When the next rewrite is due; nil: not before somebody asks.
  var dueTime: Int64? {
    if isAsked { return last + interval / 2 }
    return isContinuing ? last + interval * 3 / 2 : nil
  }

  /// A rewrite was done, or found nothing to do.
  ///
  /// - Parameter processorTime: what it took [ns].
  mutating func done(at now: Int64, processorTime: Int64, hasWritten: Bool) {
    last = now
    isAsked = false
    isContinuing = hasWritten
    cost += (Double(processorTime) - cost) / (Double(processorTime) > cost ? 2 : 16)
    // At most two rewrites per interval.
    let needed = Int64(2 * cost / Self.largestShare)
    interval = Self.shortestInterval
    while interval < needed, interval < Self.longestInterval { interval *= 2 }
  }
}
