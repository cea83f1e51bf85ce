// SPDX-License-Identifier: Apache-2.0

/// Determines when an attempt to connect times out and when the next attempt begins.
///
/// Times are CLOCK_MONOTONIC nanoseconds.
package struct ConnectionAttempts {
  /// The least time from a loss or a failure to the next attempt [ns]: slightly less than two tick
  /// intervals.
  private static let retryInterval: Int64 = 95_000_000

  /// The time from `begin` to the deadline [ns].
  private let timeout: Int64
  private var deadline: Int64 = 0
  private var retryTime: Int64 = 0
  package private(set) var hasSucceeded = false
  /// Why the first stream could not be opened; nil before a failure, during a new attempt and after
  /// a success.
  package var failure: SoundServerError?

  package init(timeoutMilliseconds: Int) { timeout = Int64(timeoutMilliseconds) * 1_000_000 }

  package mutating func begin(now: Int64) { deadline = now + timeout }

  /// Returns whether the current attempt has timed out.
  package func isLate(_ now: Int64) -> Bool { now > deadline }

  /// Clears `failure` and sets `hasSucceeded`, which stays true after a loss.
  package mutating func succeeded() {
    hasSucceeded = true
    failure = nil
  }

  /// Makes the next attempt due `retryInterval` after `now`.
  package mutating func postpone(now: Int64) { retryTime = now + Self.retryInterval }

  package func isRetryDue(_ now: Int64) -> Bool { now >= retryTime }
}
