// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc

/// Decides when to print a status line if the output is not a terminal that can replace the line.
package struct PlainStatus {
  private let interval: Int64
  private var next: Int64

  /// Schedules the first line.
  ///
  /// - Parameters:
  ///   - seconds: the time between lines, and from `now` to the first line.
  ///   - now: the current CLOCK_MONOTONIC time, in ns.
  package init(everySeconds seconds: Double = 10, now: Int64 = monotonic_nanoseconds()) {
    interval = Int64(seconds * 1e9)
    next = now + interval
  }

  /// Returns whether a line is due. If it is, schedules the next one.
  ///
  /// - Parameter now: the current CLOCK_MONOTONIC time, in ns.
  package mutating func isDue(now: Int64 = monotonic_nanoseconds()) -> Bool {
    guard now >= next else { return false }
    next = max(next + interval, now)
    return true
  }
}

/// Prints `text` to stderr as a line that begins with `stillstage: status:`.
package func printStatus(_ text: String) {
  write("stillstage: status: \(printable(text))\n", to: STDERR_FILENO)
}
