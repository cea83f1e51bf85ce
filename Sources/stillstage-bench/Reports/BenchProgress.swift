// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Glibc

/// Shows the progress and the elapsed time of a measurement if standard error is a terminal.
struct BenchProgress {
  let total: Int
  private let line = canReplaceLines(STDERR_FILENO) ? ActivityLine("measuring") : nil

  init(total: Int) { self.total = total }

  func show(_ done: Int) { line?.show("measuring \(done) of \(total)") }

  func end() { line?.end() }
}
