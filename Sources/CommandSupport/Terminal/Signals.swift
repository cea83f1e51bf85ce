// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc
package import Media
import Synchronization

/// Handles SIGINT, SIGTERM and, unless it is ignored, SIGHUP on a thread of its own.
package enum Signals {
  /// The flag that the first signal raises.
  package static let interrupt = InterruptFlag()
  private static let number = Atomic<Int32>(0)

  /// The number of the first signal that arrived; nil if there was none.
  package static var received: Int32? {
    let value = number.load(ordering: .acquiring)
    return value == 0 ? nil : value
  }

  /// Blocks the signals for this thread and all threads that it starts later, and starts a thread
  /// that waits for the signals. A signal that arrives more than 0.3 s after the first signal ends
  /// the process at once. A signal that arrives sooner is ignored, because `timeout` sends its
  /// signal twice, to the process and to its group.
  static func watch() {
    var set = Self.set
    pthread_sigmask(SIG_BLOCK, &set, nil)
    _ = interrupt
    var thread = pthread_t()
    pthread_create(&thread, nil, { _ in Signals.wait() }, nil)
    pthread_detach(thread)
  }

  private static var set: sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGINT)
    sigaddset(&set, SIGTERM)
    if !isIgnored(SIGHUP) { sigaddset(&set, SIGHUP) }
    return set
  }

  /// Returns whether a signal is ignored, as SIGHUP is under `nohup`. `sigwait` would receive even
  /// an ignored signal.
  private static func isIgnored(_ signal: Int32) -> Bool {
    var action = sigaction()
    sigaction(signal, nil, &action)
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }

  private static func wait() -> UnsafeMutableRawPointer? {
    var set = Self.set
    var first: Int64 = 0
    while true {
      var signal: Int32 = 0
      guard sigwait(&set, &signal) == 0 else { continue }
      let now = monotonic_nanoseconds()
      if received != nil {
        guard now - first > 300_000_000 else { continue }
        _exit(128 + signal)
      }
      first = now
      number.store(signal, ordering: .releasing)
      interrupt.raise()
      SignalDeadline.begin(signal)
    }
  }
}
