// SPDX-License-Identifier: Apache-2.0

import PulseAudio
import SoundServer
import Synchronization
import TestSupport
import Testing

@testable import Laboratory

extension ServerTests {
  @Suite(
    .serialized,
    .enabled(
      if: PrivatePipeWireServer.missingPackage == nil,
      "needs the Debian package '\(PrivatePipeWireServer.missingPackage ?? "")'"))
  struct PipeWireTests {
    @Test func playbackControlAndRecoveryWorkOnPipeWire() throws {
      try PrivatePipeWireServer.withServer { server in
        let (audio, capture) = try capture(server.address, sink: "ears", fragment: 100)
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
        // On a busy machine PipeWire's graph drops quanta (256 frames or a multiple) on the way to
        // the monitor. A frame lost or repeated by the output would not be a complete quantum.
        #expect(
          recording.jumps.allSatisfy { $0.to > $0.from && ($0.to - $0.from - 1) % 256 == 0 },
          "\(recording.jumps)")
        #expect(run.count > 4096)
        #expect(residual < -100)
        #expect(status.isLatencyApproximate)
        #expect(status.serverName.contains("PipeWire"))
        #expect(status.sinkName == "ears")
        #expect(status.state == .playing)
        #expect(
          try PulseSinkList.read(serverAddress: server.address).contains { $0.name == "ears" })
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
      let (audio, capture) = try capture(server.address, sink: "ears", fragment: 100)
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
      try move(playing, to: "other", server)
      try move(playing, to: "ears", server)
      sleepMilliseconds(300)
      #expect(playing.output.status.state == .playing)
    }

    /// Moves the stream. PipeWire's session manager occasionally drops a request to move, so only
    /// moves that the server made must be reported.
    private func move(
      _ playing: Playing, to sink: String, _ server: PrivatePipeWireServer
    ) throws {
      let before = monotonicNow()
      for attempt in 1...5 {
        let input = try server.pactl(["list", "short", "sink-inputs"]).prefix { $0.isNumber }
        try server.pactl(["move-sink-input", String(input), sink])
        let event = playing.log.await(limit: 1000, after: before) { $0 == .moved(sink: sink) }
        if event != nil { return }
        let place = try sinkOfOnlyInput(server)
        recordRetry("PipeWire: request \(attempt) to move to \(sink): stream is on \(place)")
        #expect(place == playing.output.status.sinkName)
      }
      Issue.record("PipeWire did not move the stream to \(sink)")
    }

    /// Returns the sink of the only stream, as the server reports it.
    private func sinkOfOnlyInput(_ server: PrivatePipeWireServer) throws -> String {
      let input = try server.pactl(["list", "short", "sink-inputs"]).split(separator: "\t")
      let sinks = try server.pactl(["list", "short", "sinks"]).split(separator: "\n")
      let fields = sinks.map { $0.split(separator: "\t") }
      return fields.first { $0[0] == input[1] }.map { String($0[1]) } ?? "none"
    }

    private func checkFreeze(_ playing: Playing, _ server: PrivatePipeWireServer) throws {
      let start = monotonicNow()
      server.freeze()
      let frozen = try #require(playing.log.await(limit: 2000) { $0 == .serverFrozen })
      server.thaw()
      #expect(playing.log.await(limit: 2000) { $0 == .serverThawed } != nil)
      let reportDelay = Double(frozen.timeNanoseconds - start) / 1e6
      print("PipeWire frozen: reported after \(reportDelay) ms")
      #expect(reportDelay < 1100)
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
