// SPDX-License-Identifier: Apache-2.0

import Synchronization
import System
import TestSupport
import Testing

@Suite struct WorkerTests {
  @Test func stopEndsASleepPromptly() {
    let worker = Worker()
    worker.start { while !worker.isStopped { worker.sleep(milliseconds: 10_000) } }
    _ = waitUntil(seconds: 0.02) { false }
    let start = ContinuousClock.now
    worker.stop()
    #expect(ContinuousClock.now - start < .milliseconds(100))
  }

  @Test func wakeEndsASleep() {
    let worker = Worker()
    final class Count: Sendable { let value = Atomic<Int>(0) }
    let count = Count()
    worker.start {
      while !worker.isStopped {
        worker.sleep(milliseconds: 10_000)
        count.value.add(1, ordering: .relaxed)
      }
    }
    for number in 1...5 {
      worker.wake()
      let isAwake = waitUntil(seconds: 5) { count.value.load(ordering: .relaxed) >= number }
      #expect(isAwake)
    }
    worker.stop()
  }

  @Test func stoppedWorkerDoesNotStart() {
    let worker = Worker()
    worker.stop()
    worker.start { Issue.record("it runs") }
    worker.stop()
  }
}
