// SPDX-License-Identifier: Apache-2.0

import System

/// A program that is run for what it writes.
package enum HelperProgram {
  /// All that it wrote to standard output; nil where it failed. A signal to this process ends it.
  package static func output(of words: [String]) -> String? {
    let program = CapturedProgram(words, isCancelled: { Signals.received != nil })
    guard let (output, ending) = program.run(), ending == .exited(0) else { return nil }
    return String(decoding: output, as: UTF8.self)
  }
}
