// SPDX-License-Identifier: Apache-2.0

import Laboratory
import PulseAudio
import SoundServer
import Synchronization
import TestSupport
import Testing

extension ServerTests {
  /// Compares the interruptions in the recording of a sink with the reported events.
  @Suite(.serialized) struct InterruptionTests {
    @Test(arguments: [100, 900])
    func interruptionsBySlowRenderingHaveEvents(after milliseconds: Int) throws {
      try PrivatePulseServer.withServer { server in
        let (audio, recorder) = try capture(server.address)
        let playing = try Playing(configuration(server.address, latency: 60))
        defer { playing.output.stop() }
        sleepMilliseconds(milliseconds)
        playing.source.delayMicroseconds.store(150_000, ordering: .relaxed)
        sleepMilliseconds(300)
        playing.source.delayMicroseconds.store(0, ordering: .relaxed)
        sleepMilliseconds(1000)
        recorder.stop()
        let interruptions = Recording(audio).interruptions
        #expect(!interruptions.isEmpty)
        #expect(
          playing.output.status.underruns >= interruptions.count,
          "silent frames: \(interruptions)")
      }
    }

    @Test func interruptionsAfterRestartsHaveEvents() throws {
      try PrivatePulseServer.withServer { server in
        let playing = try Playing(configuration(server.address))
        defer { playing.output.stop() }
        for round in 1...4 {
          sleepMilliseconds(300)
          server.kill()
          sleepMilliseconds(200)
          let reported = playing.output.status.underruns
          try server.restart()
          let (audio, recorder) = try capture(server.address)
          sleepMilliseconds(1500)
          recorder.stop()
          let recording = Recording(audio)
          let interruptions = recording.interruptions
          #expect(recording.heard.count > 24_000)
          #expect(
            playing.output.status.underruns - reported >= interruptions.count,
            "restart \(round): silent frames \(interruptions)")
        }
      }
    }

    @Test func interruptionsByChangesOfTheSinkHaveEvents() throws {
      try PrivatePulseServer.withServer { server in
        _ = try server.loadSink("other")
        let playing = try Playing(configuration(server.address))
        defer { playing.output.stop() }
        sleepMilliseconds(300)
        let (audio, recorder) = try capture(server.address)
        sleepMilliseconds(300)
        try server.pactl(["suspend-sink", "ears", "1"])
        #expect(playing.log.await(limit: 1000) { $0 == .suspended } != nil)
        sleepMilliseconds(500)
        try server.pactl(["suspend-sink", "ears", "0"])
        #expect(playing.log.await(limit: 1000) { $0 == .unsuspended } != nil)
        sleepMilliseconds(500)
        try server.pactl(["set-default-sink", "other"])
        #expect(playing.log.await(limit: 1000) { $0 == .moved(sink: "other") } != nil)
        sleepMilliseconds(300)
        try server.pactl(["set-default-sink", "ears"])
        #expect(playing.log.await(limit: 1000) { $0 == .moved(sink: "ears") } != nil)
        sleepMilliseconds(700)
        recorder.stop()
        // The suspension and the absence from the sink cause at most one interruption each.
        let interruptions = Recording(audio).interruptions
        #expect(
          playing.output.status.underruns + 2 >= interruptions.count,
          "silent frames: \(interruptions)")
      }
    }
  }
}
