// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// Keeps a core busy.
final class Spinner: Sendable {
  private let isStopped = Atomic<Bool>(false)
  private let thread = Mutex(pthread_t())

  init() {
    thread.withLock {
      _ = pthread_create(
        &$0, nil,
        { context in
          Unmanaged<Spinner>.fromOpaque(context!).takeRetainedValue().run()
          return nil
        }, Unmanaged.passRetained(self).toOpaque())
    }
  }

  func stop() {
    isStopped.store(true, ordering: .releasing)
    let thread = thread.withLock { $0 }
    pthread_join(thread, nil)
  }

  private func run() {
    while !isStopped.load(ordering: .relaxed) {}
  }
}
