// SPDX-License-Identifier: Apache-2.0

import CAllocationCounter
import PulseAudio
import Testing

@testable import Capture

/// The part of the recorder that runs on the capture thread.
struct FeedSafetyTests {
  @Test func aBlockIsTakenWithoutAllocationOrLock() {
    let feed = CaptureFeed(bytes: 1 << 20)
    let samples = [Float](repeating: 0.5, count: 480 * 4)
    samples.withUnsafeBufferPointer { samples in
      func hand() {
        for _ in 0..<100 {
          feed.receive(
            SourceBlock(
              samples: samples.baseAddress, frameCount: 480, channelCount: 4,
              arrivalTimeNanoseconds: 1, captureTimeNanoseconds: nil))
        }
      }
      hand()
      operation_counter_start()
      // The ring becomes full during these calls.
      hand()
      let counts = operation_counter_stop()
      #expect(counts.allocations == 0)
      #expect(counts.frees == 0)
      #expect(counts.mutex_locks == 0)
    }
  }
}
