// SPDX-License-Identifier: Apache-2.0

/// Limits how often the same request is made: at most once in `spacing`, and at most `count` times
/// in `period`.
package struct RequestLimit: Sendable, Equatable {
  private let spacing: Int64
  private let count: Int
  private let period: Int64
  private var times: [Int64] = []

  /// - Parameters:
  ///   - spacing: the shortest time between two requests, in nanoseconds.
  ///   - count: the largest number of requests in `period`.
  ///   - period: the time over which requests are counted, in nanoseconds.
  package init(spacing: Int64 = 500_000_000, count: Int = 5, period: Int64 = 30_000_000_000) {
    (self.spacing, self.count, self.period) = (spacing, count, period)
  }

  /// Whether the latest request was refused because of the number of requests in `period`.
  package private(set) var isExhausted = false

  /// Returns whether a request may be made now, and counts it if so.
  ///
  /// - Parameter now: the present time, which never decreases [ns].
  package mutating func allows(at now: Int64) -> Bool {
    times.removeAll { now - $0 >= period }
    isExhausted = times.count >= count
    if isExhausted { return false }
    if let last = times.last, now - last < spacing { return false }
    times.append(now)
    return true
  }
}
