// SPDX-License-Identifier: Apache-2.0

import System

/// Runs other programs and waits until they end.
package enum HelperProgram {
  /// Runs a program and returns its standard output. Returns nil if the program cannot be started
  /// or fails. If a signal requests the end of this process, the program is killed.
  ///
  /// - Parameter words: the path of the program, then its arguments.
  package static func output(of words: [String]) -> String? {
    let program = CapturedProgram(words, isCancelled: { Signals.received != nil })
    guard let (output, ending) = program.run(), ending == .exited(0) else { return nil }
    return String(decoding: output, as: UTF8.self)
  }
}
