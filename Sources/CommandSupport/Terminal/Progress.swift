// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc

/// Shows the progress of an operation on stderr, if stderr is a terminal on which lines can be
/// replaced and the operation takes longer than 0.5 s.
package struct Progress {
  private let total: Int?
  private var done = 0
  private var shownAt = monotonic_nanoseconds() + 500_000_000 - 200_000_000
  private var isShown = false
  private let isWanted = canReplaceLines(STDERR_FILENO)
  private let word: String

  /// Starts to measure the time.
  ///
  /// - Parameters:
  ///   - total: the total number of units; nil if it is unknown, in which case nothing is shown.
  ///   - word: the word after the percentage; empty for none.
  package init(total: Int?, doing word: String = "") {
    self.total = total
    self.word = word.isEmpty ? "" : " " + word
  }

  package mutating func advance(by frames: Int) {
    done += frames
    guard isWanted, let total, total > 0 else { return }
    let now = monotonic_nanoseconds()
    guard now - shownAt > 200_000_000 else { return }
    shownAt = now
    isShown = true
    write("\r\(min(100, done * 100 / total)) %\(word)\u{1B}[K", to: STDERR_FILENO)
  }

  /// Sets the number of units that are done.
  package mutating func advance(to frames: Int) { advance(by: frames - done) }

  /// Clears the progress line.
  package func end() {
    if isShown { write("\r\u{1B}[K", to: STDERR_FILENO) }
  }
}
