// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc
import Synchronization

/// Notes and errors that are reported while a view fills the terminal.
///
/// The view shows the newest ones. If stderr is a terminal, all are printed when the view is
/// closed; otherwise each is printed at once.
package enum HeldLines {
  private struct State {
    var isHolding = false
    var recent: [(text: String, time: Int64)] = []
    /// Lines that are still to be printed.
    var pending: [String] = []
  }
  private static let state = Mutex(State())
  /// The longest time for which the view shows a line, in ns.
  private static let age: Int64 = 8_000_000_000

  /// Starts to hold lines. Call this when the view opens.
  static func begin() { state.withLock { $0.isHolding = true } }

  /// Stops holding lines, and prints those that were held.
  static func end() {
    let lines = state.withLock { state in
      defer { state = State() }
      return state.pending
    }
    for line in lines { write(wrappedForTerminal(line), to: STDERR_FILENO) }
  }

  /// Between `begin` and `end`, keeps `text` for the view and, if stderr is a terminal, holds
  /// `line` until `end`. Returns false if the caller must print `line` now.
  static func hold(_ text: String, _ line: String) -> Bool {
    state.withLock { state in
      guard state.isHolding else { return false }
      state.recent = state.recent.suffix(9) + [(text, monotonic_nanoseconds())]
      // If stderr is not a terminal, the line does not disturb the view when it is printed now.
      guard isTerminal(STDERR_FILENO) else { return false }
      state.pending.append(line)
      return true
    }
  }

  /// The lines for the view: at most 10 from the last 8 s, the oldest first.
  package static var recent: [String] {
    let start = monotonic_nanoseconds() - age
    return state.withLock { state in state.recent.filter { $0.time > start }.map(\.text) }
  }
}
