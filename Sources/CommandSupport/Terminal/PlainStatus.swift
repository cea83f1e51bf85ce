// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc

/// Decides when to print a status line in a run without a terminal.
package struct PlainStatus {
  private let interval: Int64
  private var next: Int64

  /// - Parameter seconds: the time between lines, and before the first one.
  package init(everySeconds seconds: Double = 10, now: Int64 = monotonic_nanoseconds()) {
    interval = Int64(seconds * 1e9)
    next = now + interval
  }

  /// Returns whether a line is due at a CLOCK_MONOTONIC time, in nanoseconds.
  package mutating func isDue(now: Int64 = monotonic_nanoseconds()) -> Bool {
    guard now >= next else { return false }
    next = max(next + interval, now)
    return true
  }
}

/// Prints a status line to stderr.
package func printStatus(_ text: String) {
  write("stillstage: status: \(printable(text))\n", to: STDERR_FILENO)
}
