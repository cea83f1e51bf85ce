// SPDX-License-Identifier: Apache-2.0

/// Limits how often a request is made: at most once in any time span of length `spacing`, and at
/// most `count` times in any time span of length `period`.
package struct RequestLimit: Sendable, Equatable {
  private let spacing: Int64
  private let count: Int
  private let period: Int64
  private var times: [Int64] = []

  /// - Parameters:
  ///   - spacing: the shortest time between two requests [ns].
  ///   - count: the largest number of requests in `period`.
  ///   - period: the time over which requests are counted [ns].
  package init(spacing: Int64 = 500_000_000, count: Int = 5, period: Int64 = 30_000_000_000) {
    (self.spacing, self.count, self.period) = (spacing, count, period)
  }

  /// Whether the latest request was refused because of `count`.
  package private(set) var isExhausted = false

  /// Returns whether a request may be made now, and counts an allowed request.
  ///
  /// - Parameter now: the current time, which never decreases [ns].
  package mutating func allows(at now: Int64) -> Bool {
    times.removeAll { now - $0 >= period }
    isExhausted = times.count >= count
    if isExhausted { return false }
    if let last = times.last, now - last < spacing { return false }
    times.append(now)
    return true
  }
}
