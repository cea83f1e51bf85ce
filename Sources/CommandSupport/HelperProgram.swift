// SPDX-License-Identifier: Apache-2.0

import System

/// Runs other programs and returns their output.
package enum HelperProgram {
  /// Returns a program's standard output; nil if the program failed. A signal to this process kills
  /// the program.
  package static func output(of words: [String]) -> String? {
    let program = CapturedProgram(words, isCancelled: { Signals.received != nil })
    guard let (output, ending) = program.run(), ending == .exited(0) else { return nil }
    return String(decoding: output, as: UTF8.self)
  }
}
