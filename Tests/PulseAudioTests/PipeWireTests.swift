// SPDX-License-Identifier: Apache-2.0

import PulseAudio
import Synchronization
import TestSupport
import Testing

extension ServerTests {
  @Suite(
    .serialized,
    .enabled(
      if: PrivatePipeWireServer.missingPackage == nil,
      "needs the Debian package '\(PrivatePipeWireServer.missingPackage ?? "")'"))
  struct PipeWireTests {
    @Test func everythingWorksOnPipeWire() throws {
      try PrivatePipeWireServer.withServer { server in
        let (audio, capture) = try capture(server.address, sink: "ears")
        var asked = configuration(server.address)
        asked.sinkName = "ears"
        let playing = try Playing(asked)
        defer { playing.output.stop() }
        sleepMilliseconds(1000)
        try checkPause(playing)
        sleepMilliseconds(600)
        capture.stop()
        let recording = Recording(audio)
        let run = recording.longestRun
        let residual = residualDecibels(
          run, frequency: CountingSource.frequency, sampleRate: 48_000)
        let status = playing.output.status
        print(
          "PipeWire: residual \(residual) dB, queue \(status.queueMilliseconds),",
          "sink \(status.sinkLatencyMilliseconds),",
          "measured \(status.measuredLatencyMilliseconds ?? -1) ms,",
          "underruns \(status.underruns), jumps \(recording.jumps)")
        // On a busy machine PipeWire's own graph loses a quantum now and then; ours would show as
        // a step back or a long way forward.
        #expect(recording.jumps.count <= 8)
        #expect(
          recording.jumps.allSatisfy { $0.to > $0.from && $0.to - $0.from <= 1025 },
          "\(recording.jumps)")
        #expect(run.count > 9600)
        #expect(residual < -100)
        #expect(status.isLatencyApproximate)
        #expect(status.serverName.contains("PipeWire"))
        #expect(status.sinkName == "ears")
        #expect(status.state == .playing)
        #expect(try SinkList.read(serverAddress: server.address).contains { $0.name == "ears" })
        try checkFlushAndDrain(playing, server)
        try checkMove(playing, server)
        try checkFreeze(playing, server)
        try checkReturn(playing, server)
      }
    }

    private func checkPause(_ playing: Playing) throws {
      playing.output.pause()
      sleepMilliseconds(200)
      let written = playing.output.status.framesWritten
      sleepMilliseconds(200)
      #expect(playing.output.status.framesWritten == written)
      #expect(playing.output.status.state == .paused)
      playing.output.resume()
    }

    private func checkFlushAndDrain(
      _ playing: Playing, _ server: PrivatePipeWireServer
    ) throws {
      let (audio, capture) = try capture(server.address, sink: "ears")
      playing.output.flush { playing.source.nextFrame.store(500_000, ordering: .relaxed) }
      sleepMilliseconds(400)
      #expect(Recording(audio).heard.contains { $0 >= 500_000 })
      #expect(playing.output.drain())
      capture.stop()
      #expect(playing.output.status.state == .drained)
      playing.output.resume()
      sleepMilliseconds(200)
      #expect(playing.output.status.state == .playing)
    }

    private func checkMove(_ playing: Playing, _ server: PrivatePipeWireServer) throws {
      try server.pactl(["load-module", "module-null-sink", "sink_name=other"])
      let inputs = try server.pactl(["list", "short", "sink-inputs"])
      let input = String(inputs.prefix { $0.isNumber })
      try server.pactl(["move-sink-input", input, "other"])
      #expect(playing.log.await(limit: 2000) { $0 == .moved(sink: "other") } != nil)
      try server.pactl(["move-sink-input", input, "ears"])
      #expect(playing.log.await(limit: 2000) { $0 == .moved(sink: "ears") } != nil)
      sleepMilliseconds(300)
      #expect(playing.output.status.state == .playing)
    }

    private func checkFreeze(_ playing: Playing, _ server: PrivatePipeWireServer) throws {
      let start = monotonicNow()
      server.freeze()
      let frozen = try #require(playing.log.await(limit: 2000) { $0 == .serverFrozen })
      server.thaw()
      #expect(playing.log.await(limit: 2000) { $0 == .serverThawed } != nil)
      let told = Double(frozen.timeNanoseconds - start) / 1e6
      print("PipeWire frozen: told after \(told) ms")
      #expect(told < 1100)
    }

    private func checkReturn(_ playing: Playing, _ server: PrivatePipeWireServer) throws {
      server.kill()
      let lost = playing.log.await(limit: 1000) {
        if case .serverLost = $0 { true } else { false }
      }
      #expect(lost != nil)
      let written = playing.output.status.framesWritten
      sleepMilliseconds(300)
      #expect(playing.output.status.framesWritten == written)
      try server.restart()
      let returned = monotonicNow()
      let back = try #require(
        playing.log.await(limit: 3000, after: lost?.timeNanoseconds ?? 0) {
          $0 == .connected(sink: "ears")
        })
      print("PipeWire back: playing after \(Double(back.timeNanoseconds - returned) / 1e6) ms")
      #expect(back.timeNanoseconds - returned < 500_000_000)
      let moves = millisecondsUntil(limit: 1000) {
        playing.output.status.framesWritten > written
      }
      #expect(moves != nil)
    }
  }
}
