// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// A thread that a test starts and ends.
final class TestThread: Sendable {
  private let shouldStop = Atomic<Bool>(false)
  private let thread = Mutex(pthread_t())
  private let body: @Sendable (TestThread) -> Void

  /// Runs `body`, which must return soon after `isStopped` becomes true.
  init(_ body: @escaping @Sendable (TestThread) -> Void) {
    self.body = body
    thread.withLock {
      _ = pthread_create(
        &$0, nil,
        { context in
          let thread = Unmanaged<TestThread>.fromOpaque(context!).takeRetainedValue()
          thread.body(thread)
          return nil
        }, Unmanaged.passRetained(self).toOpaque())
    }
  }

  /// Whether `stop` has been called.
  var isStopped: Bool { shouldStop.load(ordering: .acquiring) }

  /// Ends the thread and waits for its end.
  func stop() {
    shouldStop.store(true, ordering: .releasing)
    let thread = thread.withLock { $0 }
    pthread_join(thread, nil)
  }
}
