// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// Stops the process when Ctrl-Z is pressed (SIGTSTP), and runs actions before the stop and after
/// the process continues.
package enum Suspension {
  /// Functions that are called before the process stops and after it continues.
  package struct Actions: Sendable {
    let stop: @Sendable () -> Void
    let resume: @Sendable () -> Void

    /// Creates a pair of functions.
    ///
    /// - Parameters:
    ///   - stop: called before the process stops, except before a stop by SIGSTOP, because that
    ///     signal cannot be caught.
    ///   - resume: called after the process continues, even if `stop` was not called; may be called
    ///     more than once.
    package init(
      stop: @escaping @Sendable () -> Void, resume: @escaping @Sendable () -> Void
    ) {
      (self.stop, self.resume) = (stop, resume)
    }
  }

  private static let all = Mutex<[Int: Actions]>([:])

  /// Registers actions and returns a number for `remove`. Before a stop, the actions are called in
  /// reverse order of registration; after it, in order of registration. They are called on another
  /// thread.
  package static func add(_ actions: Actions) -> Int {
    all.withLock { all in
      let number = (all.keys.max() ?? 0) + 1
      all[number] = actions
      return number
    }
  }

  package static func remove(_ number: Int) { all.withLock { $0[number] = nil } }

  private static var ordered: [Actions] {
    all.withLock { all in all.sorted { $0.key < $1.key }.map(\.value) }
  }

  /// Calls the `stop` actions, stops the process and, after it has continued, calls the `resume`
  /// actions. Does not stop the process if no shell could continue it. SIGTSTP must be blocked in
  /// all threads.
  static func stop() {
    for actions in ordered.reversed() { actions.stop() }
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGTSTP)
    // The signal's default action stops all threads. In an orphaned process group, the kernel
    // discards the signal.
    pthread_kill(pthread_self(), SIGTSTP)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
    pthread_sigmask(SIG_BLOCK, &set, nil)
    resume()
  }

  static func resume() { for actions in ordered { actions.resume() } }
}
