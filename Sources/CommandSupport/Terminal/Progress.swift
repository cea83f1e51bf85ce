// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc

/// How far long work has come, on stderr, where a person looks and has waited for half a second.
package struct Progress {
  private let total: Int?
  private var done = 0
  private var shownAt = monotonic_nanoseconds() + 500_000_000 - 200_000_000
  private var isShown = false
  private let isWanted = isTerminal(STDERR_FILENO)
  private let word: String

  /// - Parameters:
  ///   - total: frames in all; nil where that is not known.
  ///   - word: what has been done to them, where it is not the usual.
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

  /// Leaves the line empty.
  package func end() {
    if isShown { write("\r\u{1B}[K", to: STDERR_FILENO) }
  }
}
