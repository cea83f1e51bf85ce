// SPDX-License-Identifier: Apache-2.0

import Glibc
import PulseAudio
import Synchronization

/// Turns the head as fast as it can, on a thread of its own.
final class Refresher: Sendable {
  private let output: AudioOutput
  private let source: VersionedSource
  private let isStopped = Atomic<Bool>(false)
  private let thread = Mutex(pthread_t())

  init(_ output: AudioOutput, _ source: VersionedSource) {
    self.output = output
    self.source = source
    thread.withLock {
      _ = pthread_create(
        &$0, nil,
        { context in
          Unmanaged<Refresher>.fromOpaque(context!).takeRetainedValue().run()
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
    while !isStopped.load(ordering: .acquiring) {
      source.turn()
      output.refresh()
      usleep(100)
    }
  }
}
