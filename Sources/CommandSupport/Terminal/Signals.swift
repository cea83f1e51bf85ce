// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc
package import Media
import Synchronization
import System

/// Handles the signals that request the end of the process (SIGINT, SIGTERM and SIGHUP), and those
/// that stop and continue it (SIGTSTP and SIGCONT). An ignored SIGHUP or SIGTSTP stays ignored.
package enum Signals {
  /// The flag that is raised by the first signal that requests the end of the process.
  package static let interrupt = InterruptFlag()
  private static let number = Atomic<Int32>(0)

  /// The number of the first signal that requests the end of the process; nil if there was none.
  package static var received: Int32? {
    let value = number.load(ordering: .acquiring)
    return value == 0 ? nil : value
  }

  /// Blocks the signals for this thread and the threads that it starts later, and starts a thread
  /// that waits for the signals.
  ///
  /// The first signal that requests the end of the process lets the command end cleanly within the
  /// time that `SignalDeadline` allows. A later one ends the process at once if it arrives more
  /// than 1 s after the first, or if it is the third SIGINT. Other repetitions are ignored: the
  /// kernel sends SIGHUP twice when a terminal is closed, and `timeout` sends a signal both to the
  /// process and to the process group.
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
    sigaddset(&set, SIGCONT)
    for signal in [SIGHUP, SIGTSTP] where !isIgnored(signal) { sigaddset(&set, signal) }
    return set
  }

  /// Returns whether a signal is ignored. `sigwait` would receive even an ignored signal.
  private static func isIgnored(_ signal: Int32) -> Bool {
    var action = sigaction()
    sigaction(signal, nil, &action)
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }

  private static func wait() -> UnsafeMutableRawPointer? {
    var set = Self.set
    var repetition = SignalRepetition()
    while true {
      var signal: Int32 = 0
      guard sigwait(&set, &signal) == 0 else { continue }
      if signal == SIGTSTP || signal == SIGCONT {
        signal == SIGTSTP ? Suspension.stop() : Suspension.resume()
        continue
      }
      switch repetition.action(for: signal, at: monotonic_nanoseconds()) {
      case .stop:
        number.store(signal, ordering: .releasing)
        interrupt.raise()
        SignalDeadline.begin(signal)
      case .ignore: continue
      case .endAtOnce:
        UnfinishedFiles.deleteAll()
        Console.restoreTerminal()
        _exit(128 + signal)
      }
    }
  }
}

/// Decides the effect of each signal that requests the end of the process.
struct SignalRepetition {
  enum Action: Equatable {
    case stop
    case ignore
    case endAtOnce
  }

  /// The time after the first signal, in ns, within which repetitions are ignored, except for the
  /// third SIGINT.
  static let grace: Int64 = 1_000_000_000
  private var first: Int64?
  private var interrupts = 0

  /// Returns the effect of a signal that has just arrived.
  ///
  /// - Parameter now: the monotonic time of the signal, in ns.
  mutating func action(for signal: Int32, at now: Int64) -> Action {
    if signal == SIGINT { interrupts += 1 }
    guard let first else {
      self.first = now
      return .stop
    }
    return now - first > Self.grace || interrupts >= 3 ? .endAtOnce : .ignore
  }
}
