// SPDX-License-Identifier: Apache-2.0

import Laboratory
import Synchronization
import TestSupport
import Testing

@testable import Capture

/// What a listener has heard.
private final class Heard: Sendable {
  private let samples = Mutex<[Float]>([])

  var first: [Float] { samples.withLock { $0 } }
  var frames: Int { first.count / 4 }

  @Sendable func add(_ block: UnsafePointer<Float>, _ frames: Int) {
    samples.withLock { $0 += UnsafeBufferPointer(start: block, count: 4 * frames) }
  }

  /// The first channel.
  var plane: [Float] {
    let all = first
    return stride(from: 0, to: all.count, by: 4).map { all[$0] }
  }
}

extension CaptureServerTests {
  @Suite(.serialized) struct LiveFeedTests {
    /// Neither a slow disk nor a pause of the recording delays the sound for the listener.
    @Test func theListenerDoesNotWaitForTheRecording() throws {
      try PrivatePulseServer.withServer { server in
        let microphone = try VirtualMicrophone(server)
        defer { microphone.stop() }
        let heard = Heard()
        let sink = MemorySink(stallAt: 24_000, stallMilliseconds: 1500)
        let recording = try TestRecording(server, sink: sink) { $0.canBeMonitored = true }
        recording.recorder.monitor(heard.add)
        #expect(isTrue(within: 3000) { recording.recorder.status.frames > 20_000 })
        sleepMilliseconds(300)
        let before = heard.frames
        sleepMilliseconds(800)
        // The sink has blocked all the time.
        #expect(heard.frames - before > 30_000, "\(heard.frames - before)")
        sleepMilliseconds(1500)
        recording.recorder.isPaused = true
        sleepMilliseconds(200)
        let paused = heard.frames
        sleepMilliseconds(500)
        #expect(heard.frames - paused > 19_000, "\(heard.frames - paused)")
        _ = recording.stop()
        #expect(recording.recorder.unheardFrames == 0)
        let plane = heard.plane
        #expect(Numbering.breaks(plane).filter { $0 > staleFrames }.isEmpty)
        #expect(recording.events.gaps.isEmpty)
      }
    }

    @Test func theSoundHasTheFormatAndTheGainOfTheRecording() throws {
      try PrivatePulseServer.withServer { server in
        var form = VirtualMicrophone.Form()
        (form.channels, form.values) = (8, { _, channel in Float(channel + 1) / 16 })
        let microphone = try VirtualMicrophone(server, form)
        defer { microphone.stop() }
        let heard = Heard()
        let recording = try TestRecording(server) {
          ($0.canBeMonitored, $0.selection, $0.gain) = (true, [7, 2, 1, 0], 0.5)
        }
        recording.recorder.monitor(heard.add)
        sleepMilliseconds(1200)
        _ = recording.stop()
        #expect(heard.first.suffix(4) == [0.25, 0.09375, 0.0625, 0.03125])
      }
    }

    @Test func nobodyListensWithoutPermission() throws {
      try PrivatePulseServer.withServer { server in
        let microphone = try VirtualMicrophone(server)
        defer { microphone.stop() }
        let heard = Heard()
        let recording = try TestRecording(server)
        recording.recorder.monitor(heard.add)
        sleepMilliseconds(600)
        _ = recording.stop()
        #expect(heard.frames == 0)
      }
    }
  }
}
