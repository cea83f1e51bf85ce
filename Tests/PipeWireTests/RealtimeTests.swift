// SPDX-License-Identifier: Apache-2.0

import CAllocationCounter
import Glibc
import Laboratory
import PipeWire
import SoundServer
import Synchronization
import TestSupport
import Testing

extension PipeWireServerTests {
  @Suite(.serialized) struct RealtimeTests {
    /// Counts what the data thread does from the end of one call of the render function to the
    /// beginning of the next one: the output's own part of the cycle, and that of libpipewire.
    private final class CycleCounter: @unchecked Sendable {
      let cycles = Atomic<Int64>(0)
      let allocations = Atomic<Int64>(0)
      let locks = Atomic<Int64>(0)
      let references = Atomic<Int64>(0)
      /// Whether each call allocates memory, so that the counter has something to find.
      let isCareless = Atomic(false)
      private var isCounting = false

      var callback: AudioRenderCallback {
        AudioRenderCallback(owner: self) { context, samples, frames, _ in
          Unmanaged<CycleCounter>.fromOpaque(context)._withUnsafeGuaranteedRef {
            $0.render(samples, frames)
          }
        }
      }

      private func render(_ samples: UnsafeMutablePointer<Float>, _ frames: Int) {
        if isCounting {
          let counts = operation_counter_stop()
          allocations.add(counts.allocations + counts.frees, ordering: .relaxed)
          locks.add(counts.mutex_locks, ordering: .relaxed)
          references.add(counts.retains + counts.releases, ordering: .relaxed)
        }
        for index in 0..<2 * frames { samples[index] = 0.25 }
        cycles.add(1, ordering: .relaxed)
        isCounting = true
        operation_counter_start()
        if isCareless.load(ordering: .relaxed) { free(operation_counter_memalign(64, 64)) }
      }
    }

    @Test func cyclesNeitherAllocateNorLock() throws {
      try PrivatePipeWireServer.withServer { server in
        let counter = CycleCounter()
        let asked = configuration(server, latency: 5.4)
        let output = try PipeWireOutput(asked, render: counter.callback)
        defer { output.stop() }
        try output.start()
        sleepMilliseconds(1500)
        let cycles = counter.cycles.load(ordering: .relaxed)
        let allocations = counter.allocations.load(ordering: .relaxed)
        let locks = counter.locks.load(ordering: .relaxed)
        let references = counter.references.load(ordering: .relaxed)
        print("\(cycles) cycles: \(allocations) allocations, \(locks) locks, \(references) retains")
        #expect(cycles > 150)
        #expect(allocations == 0)
        #expect(locks == 0)
        // Debug builds retain the objects that they call.
        #if !DEBUG
          #expect(references == 0)
        #endif
        counter.isCareless.store(true, ordering: .relaxed)
        sleepMilliseconds(100)
        #expect(counter.allocations.load(ordering: .relaxed) > 0)
      }
    }
  }
}
