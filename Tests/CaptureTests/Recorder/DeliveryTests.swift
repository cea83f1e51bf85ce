// SPDX-License-Identifier: Apache-2.0

import Laboratory
import Synchronization
import TestSupport
import Testing

@testable import Capture

/// What a receiver has been given.
private final class Received: Sendable {
  struct Content {
    var samples: [Float] = []
    var positions: [Int64] = []
    var dropped = 0
  }

  let content = Mutex(Content())

  func add(_ block: DeliveredBlock) {
    content.withLock { content in
      let count = block.frames * block.channelCount
      content.samples += UnsafeBufferPointer(start: block.samples, count: count)
      content.positions.append(block.position)
      content.dropped += block.droppedFrames
    }
  }
}

extension CaptureServerTests {
  @Suite(.serialized) struct DeliveryTests {
    @Test func theBuffersAreThoseOfTheRecording() throws {
      try PrivatePulseServer.withServer { server in
        let microphone = try VirtualMicrophone(server)
        defer { microphone.stop() }
        let received = Received()
        let recording = try TestRecording(server) { $0.canBeMonitored = true }
        let delivery = recording.recorder.deliver { received.add($0) }
        sleepMilliseconds(1500)
        let (planes, _) = recording.stop()
        let content = received.content.withLock { $0 }
        #expect(delivery.droppedFrames == 0)
        let first = Int(try #require(content.positions.first))
        #expect(content.samples.count == 4 * (planes[0].count - first))
        let differences = content.samples.indices.count { i in
          content.samples[i] != planes[i % 4][first + i / 4]
        }
        #expect(differences == 0)
      }
    }

    @Test func aBlockedClosureLosesNothingInTheRecording() throws {
      try PrivatePulseServer.withServer { server in
        let microphone = try VirtualMicrophone(server)
        defer { microphone.stop() }
        let received = Received()
        let isBlocked = Atomic(false)
        let recording = try TestRecording(server)
        let delivery = recording.recorder.deliver(queueSeconds: 0.5) { block in
          received.add(block)
          if block.position > 24_000, !isBlocked.exchange(true, ordering: .relaxed) {
            sleepMilliseconds(5000)
          }
        }
        sleepMilliseconds(7000)
        let (planes, seconds) = recording.stop()
        #expect(abs(Double(planes[0].count) / 48_000 - seconds) < 0.2)
        #expect(Numbering.breaks(planes[0]).filter { $0 > staleFrames }.isEmpty)
        #expect(recording.events.gaps.isEmpty)
        // The queue holds one second of four channels. The rest of the five seconds is counted.
        let dropped = Double(delivery.droppedFrames) / 48_000
        #expect(dropped > 3 && dropped < 4.9, "\(dropped)")
        let content = received.content.withLock { $0 }
        #expect(content.dropped == delivery.droppedFrames)
        #expect(content.samples.count / 4 + delivery.droppedFrames >= planes[0].count - 4800)
      }
    }

    @Test func aRecordingDoesNotWaitForItsReceivers() throws {
      try PrivatePulseServer.withServer { server in
        let microphone = try VirtualMicrophone(server)
        defer { microphone.stop() }
        let recording = try TestRecording(server)
        _ = recording.recorder.deliver { _ in sleepMilliseconds(4000) }
        sleepMilliseconds(600)
        let begin = monotonicNow()
        _ = recording.stop()
        #expect(Double(monotonicNow() - begin) * 1e-9 < 2)
      }
    }
  }
}
