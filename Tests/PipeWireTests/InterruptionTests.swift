// SPDX-License-Identifier: Apache-2.0

import Laboratory
import PipeWire
import PulseAudio
import SoundServer
import Synchronization
import TestSupport
import Testing

extension PipeWireServerTests {
  /// Compares the interruptions in the recording of a sink with the reported underruns.
  @Suite(.serialized) struct InterruptionTests {
    @Test func anInterruptionSoonAfterTheStartHasAnEvent() throws {
      try PrivatePipeWireServer.withServer { server in
        let (audio, capture) = try capture(server)
        let playing = try Playing(configuration(server))
        defer { playing.output.stop() }
        sleepMilliseconds(300)
        playing.source.delayMicroseconds.store(60_000, ordering: .relaxed)
        sleepMilliseconds(60)
        playing.source.delayMicroseconds.store(0, ordering: .relaxed)
        sleepMilliseconds(1000)
        capture.stop()
        let interruptions = Recording(audio).interruptions
        #expect(!interruptions.isEmpty)
        #expect(underruns(playing) >= interruptions.count, "silent frames: \(interruptions)")
      }
    }

    @Test func interruptionsAfterRestartsHaveEvents() throws {
      try PrivatePipeWireServer.withServer { server in
        let playing = try Playing(configuration(server, latency: nil))
        defer { playing.output.stop() }
        for round in 1...4 {
          sleepMilliseconds(300)
          server.kill()
          sleepMilliseconds(200)
          let reported = underruns(playing)
          try server.restart()
          let (audio, capture) = try capture(server)
          sleepMilliseconds(2500)
          capture.stop()
          let interruptions = Recording(audio).interruptions
          print("restart \(round): silent frames \(interruptions)")
          #expect(
            underruns(playing) - reported >= interruptions.count,
            "restart \(round): silent frames \(interruptions)")
        }
      }
    }

    private func underruns(_ playing: Playing) -> Int { playing.output.status.underruns }
  }
}
