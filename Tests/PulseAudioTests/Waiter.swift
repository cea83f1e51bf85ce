// SPDX-License-Identifier: Apache-2.0

import Glibc
import PulseAudio
import Synchronization

/// Starts an output on a thread of its own.
final class Waiter: Sendable {
  private let output: AudioOutput
  private let thrown = Atomic<Bool>(false)
  private let thread = Mutex(pthread_t())

  var hasThrown: Bool { thrown.load(ordering: .acquiring) }

  init(_ output: AudioOutput) {
    self.output = output
    thread.withLock {
      _ = pthread_create(
        &$0, nil,
        { context in
          Unmanaged<Waiter>.fromOpaque(context!).takeRetainedValue().run()
          return nil
        }, Unmanaged.passRetained(self).toOpaque())
    }
  }

  func join() {
    let thread = thread.withLock { $0 }
    pthread_join(thread, nil)
  }

  private func run() {
    do { try output.start() } catch { thrown.store(true, ordering: .releasing) }
  }
}
