// SPDX-License-Identifier: Apache-2.0

import System

/// Runs other programs for their output.
package enum HelperProgram {
  /// Returns the standard output of a program; nil if the program failed. The program is killed if
  /// this process receives one of the signals that `Signals` handles.
  package static func output(of words: [String]) -> String? {
    let program = CapturedProgram(words, isCancelled: { Signals.received != nil })
    guard let (output, ending) = program.run(), ending == .exited(0) else { return nil }
    return String(decoding: output, as: UTF8.self)
  }
}
