// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import System

/// Ends the process if the command does not end soon after the first signal that requests its end.
package enum SignalDeadline {
  private static let allowance = Atomic(400)

  /// Sets how long the command may take to end after the first signal that requests its end. The
  /// default is 0.4 s.
  package static func allow(milliseconds: Int) {
    allowance.store(milliseconds, ordering: .relaxed)
  }

  /// Starts a thread that ends the process at the deadline, with the exit code `128 + signal`.
  static func begin(_ signal: Int32) {
    var thread = pthread_t()
    let argument = UnsafeMutableRawPointer(bitPattern: Int(signal))
    let status = pthread_create(
      &thread, nil,
      { argument in
        let signal = Int32(Int(bitPattern: argument))
        usleep(UInt32(SignalDeadline.allowance.load(ordering: .relaxed)) * 1000)
        UnfinishedFiles.deleteAll()
        Console.restoreTerminal()
        _exit(128 + signal)
      }, argument)
    if status == 0 { pthread_detach(thread) }
  }
}
