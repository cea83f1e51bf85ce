// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Glibc

/// Shows the progress of a measurement if standard error is a terminal.
struct BenchProgress {
  let total: Int
  private let isShown = isTerminal(STDERR_FILENO)

  init(total: Int) { self.total = total }

  func show(_ done: Int) {
    if isShown { write("\rmeasuring \(done) of \(total) ", to: STDERR_FILENO) }
  }

  func end() {
    if isShown { write("\r\u{1B}[K", to: STDERR_FILENO) }
  }
}
