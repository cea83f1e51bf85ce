// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Glibc
import Synchronization
package import System

/// Runs `body`. If this takes longer than 1 s and stderr is a terminal on which lines can be
/// replaced, shows the activity and the elapsed time on stderr.
///
/// - Parameter activity: what the program is doing, such as "reading the HRTF set".
package func during<Result, Failure: Error>(
  _ activity: String, _ body: () throws(Failure) -> Result
) throws(Failure) -> Result {
  guard canReplaceLines(STDERR_FILENO) else { return try body() }
  let line = ActivityLine(activity)
  defer { line.end() }
  return try body()
}

/// A line on stderr with an activity and the elapsed time. It appears after 1 s and is updated
/// every 0.5 s.
package final class ActivityLine: Sendable {
  private let worker = Worker()
  private let isShown = Atomic(false)
  private let activity: Mutex<String>

  /// Starts to measure the time. stderr must satisfy `canReplaceLines`.
  package init(_ activity: String) {
    self.activity = Mutex(activity)
    let start = monotonic_nanoseconds()
    worker.start { [worker, self] in
      worker.sleep(milliseconds: 1000)
      while !worker.isStopped {
        isShown.store(true, ordering: .releasing)
        let seconds = (monotonic_nanoseconds() - start) / 1_000_000_000
        let text = self.activity.withLock { $0 }
        write("\r\(text): \(seconds) s\u{1B}[K", to: STDERR_FILENO)
        worker.sleep(milliseconds: 500)
      }
    }
  }

  /// Changes the activity at the next update. The elapsed time still counts from the creation of
  /// this object.
  package func show(_ activity: String) {
    self.activity.withLock { $0 = activity }
  }

  /// Ends the display and clears the line. Further calls have no effect.
  package func end() {
    worker.stop()
    if isShown.exchange(false, ordering: .acquiringAndReleasing) {
      write("\r\u{1B}[K", to: STDERR_FILENO)
    }
  }
}

extension TaskMonitor {
  /// Returns a monitor that shows the progress as `Progress` does, and cancels the operation after
  /// a signal.
  ///
  /// - Parameter word: the word after the percentage, such as "read".
  package static func showing(_ word: String) -> TaskMonitor {
    let progress = Mutex(Progress(total: 1000, doing: word))
    let line = ProgressLine(progress)
    return TaskMonitor { fraction in
      line.show(fraction)
      return Signals.received == nil
    }
  }
}

/// A progress display that several threads may advance. It is cleared on deinitialisation.
private final class ProgressLine: Sendable {
  private let progress: Mutex<Progress>

  init(_ progress: consuming Mutex<Progress>) { self.progress = progress }

  deinit { progress.withLock { $0.end() } }

  func show(_ fraction: Double) {
    progress.withLock { $0.advance(to: Int(fraction * 1000)) }
  }
}
