// SPDX-License-Identifier: Apache-2.0

import Laboratory
import PipeWire
import PulseAudio
import SoundServer
import Synchronization
import TestSupport
import Testing

extension PipeWireServerTests {
  @Suite(.serialized) struct LossTests {
    @Test func playbackResumesAfterAServerRestart() throws {
      try PrivatePipeWireServer.withServer { server in
        let playing = try Playing(configuration(server))
        defer { playing.output.stop() }
        for round in 1...2 {
          sleepMilliseconds(500)
          let died = monotonicNow()
          server.kill()
          let lost = try #require(
            playing.log.await(limit: 1000, after: died) {
              if case .serverLost = $0 { true } else { false }
            })
          let written = playing.framesWritten
          sleepMilliseconds(400)
          #expect(playing.output.status.state == .serverLost)
          #expect(playing.framesWritten == written)
          #expect(playing.source.nextFrame.load(ordering: .relaxed) == written)
          try server.restart()
          let returned = monotonicNow()
          let back = try #require(
            playing.log.await(limit: 3000, after: lost.timeNanoseconds) {
              if case .connected = $0 { true } else { false }
            })
          let resumed = Double(back.timeNanoseconds - returned) / 1e6
          print(
            "server killed: reported after \(Double(lost.timeNanoseconds - died) / 1e6) ms;",
            "playing \(resumed) ms after its return")
          #expect(resumed < 500)
          #expect(playing.millisecondsUntilRendering() != nil)
          #expect(playing.output.status.losses == round)
          // At most the frames of two cycles had been rendered and not yet heard.
          #expect(playing.output.status.framesQueuedAtLoss <= 2048)
        }
        #expect(playing.source.decreases.load(ordering: .relaxed) <= 2)
      }
    }

    @Test func frozenServerIsReportedAndCallsDoNotBlock() throws {
      try PrivatePipeWireServer.withServer { server in
        let playing = try Playing(configuration(server))
        sleepMilliseconds(500)
        let frozen = monotonicNow()
        server.freeze()
        let event = try #require(playing.log.await(limit: 2000) { $0 == .serverFrozen })
        #expect(playing.output.status.state == .serverFrozen)
        let thawed = monotonicNow()
        server.thaw()
        let well = try #require(playing.log.await(limit: 2000) { $0 == .serverThawed })
        #expect(playing.output.status.state == .playing)
        sleepMilliseconds(300)
        server.freeze()
        sleepMilliseconds(100)
        var longest = 0.0
        for act in [
          playing.output.pause, playing.output.resume, { playing.output.flush() },
          { #expect(!playing.output.drain(timeoutMilliseconds: 100)) }, playing.output.stop,
        ] {
          let start = monotonicNow()
          act()
          longest = max(longest, Double(monotonicNow() - start) / 1e6)
        }
        let reportDelay = Double(event.timeNanoseconds - frozen) / 1e6
        let recovered = Double(well.timeNanoseconds - thawed) / 1e6
        print(
          "server frozen: reported after \(reportDelay) ms;",
          "recovery reported after \(recovered) ms; longest call \(longest) ms")
        #expect(reportDelay < 1100)
        #expect(recovered < 500)
        #expect(longest < 300)
        #expect(playing.output.status.state == .stopped)
        server.thaw()
      }
    }

    /// Without another sink, the session manager makes a dummy sink, as long as it runs.
    @Test func playbackContinuesOnTheSinkThatReplacesARemovedOne() throws {
      try PrivatePipeWireServer.withServer { server in
        let playing = try Playing(configuration(server))
        defer { playing.output.stop() }
        sleepMilliseconds(400)
        let removed = monotonicNow()
        try server.unloadAllSinks()
        let dummy = playing.log.await(limit: 3000, after: removed) {
          $0 == .moved(sink: "auto_null") || $0 == .connected(sink: "auto_null")
        }
        #expect(dummy != nil)
        #expect(playing.millisecondsUntilRendering() != nil)
        let loaded = monotonicNow()
        _ = try server.loadSink("spare")
        let back = try #require(
          playing.log.await(limit: 3000, after: loaded) {
            $0 == .moved(sink: "spare") || $0 == .connected(sink: "spare")
          })
        print("sink replaced: playing after \(Double(back.timeNanoseconds - loaded) / 1e6) ms")
        #expect(playing.millisecondsUntilRendering() != nil)
        #expect(playing.output.status.sinkName == "spare")
        #expect(playing.output.status.state == .playing)
      }
    }

    @Test func lossOfTheSinkWithoutASessionManagerIsReported() throws {
      try PrivatePipeWireServer.withServer { server in
        let playing = try Playing(configuration(server))
        defer { playing.output.stop() }
        sleepMilliseconds(400)
        server.end("wireplumber")
        try server.unloadAllSinks()
        let lost = try #require(
          playing.log.await(limit: 3000) { if case .sinkLost = $0 { true } else { false } })
        let written = playing.framesWritten
        sleepMilliseconds(300)
        #expect(playing.output.status.state == .sinkLost)
        #expect(playing.framesWritten == written)
        #expect(playing.output.status.losses == 1)
        try server.restart()
        #expect(
          playing.log.await(limit: 3000, after: lost.timeNanoseconds) {
            $0 == .connected(sink: "ears")
          } != nil)
        #expect(playing.millisecondsUntilRendering() != nil)
      }
    }

    @Test func playbackResumesAfterAStreamError() throws {
      try PrivatePipeWireServer.withServer { server in
        let playing = try Playing(configuration(server))
        defer { playing.output.stop() }
        sleepMilliseconds(400)
        for round in 1...2 {
          let failed = monotonicNow()
          try sendError(to: configuration(server).applicationName, on: server)
          let lost = playing.log.await(limit: 1000, after: failed) {
            if case .sinkLost = $0 { true } else { false }
          }
          #expect(lost != nil)
          #expect(
            playing.log.await(limit: 3000, after: failed) { $0 == .connected(sink: "ears") } != nil)
          #expect(playing.millisecondsUntilRendering() != nil)
          #expect(playing.output.status.losses == round)
        }
      }
    }

    @Test func statusFollowsTheDefaultSinkAndItsRemoval() throws {
      try PrivatePipeWireServer.withServer { server in
        let module = try server.loadSink(
          "other", rate: 44_100, properties: "device.form_factor=headphone")
        let playing = try Playing(configuration(server))
        defer { playing.output.stop() }
        sleepMilliseconds(300)
        #expect(playing.output.status.sinkName == "ears")
        try server.pactl(["set-default-sink", "other"])
        #expect(playing.log.await(limit: 2000) { $0 == .moved(sink: "other") } != nil)
        #expect(playing.log.await(limit: 1000) { $0 == .defaultSinkChanged(sink: "other") } != nil)
        let routed = playing.log.await(limit: 1000) {
          if case .routed(let sink) = $0 { sink.name == "other" } else { false }
        }
        #expect(routed != nil)
        #expect(playing.output.status.sink?.formFactor == "headphone")
        #expect(playing.millisecondsUntilRendering() != nil)
        #expect(playing.output.status.state == .playing)
        let removed = monotonicNow()
        try server.unload(module: module)
        #expect(
          playing.log.await(limit: 2000, after: removed) { $0 == .moved(sink: "ears") } != nil)
        #expect(playing.millisecondsUntilRendering() != nil)
        #expect(playing.output.status.losses == 0)
      }
    }

    @Test func removedSinkThatWasAskedForIsReplacedByAnother() throws {
      try PrivatePipeWireServer.withServer { server in
        let module = try server.loadSink("other")
        var asked = configuration(server)
        asked.sinkName = "other"
        let playing = try Playing(asked)
        defer { playing.output.stop() }
        #expect(playing.output.status.sinkName == "other")
        // A change of the default does not move a stream to a sink that was asked for.
        _ = try server.loadSink("third")
        try server.pactl(["set-default-sink", "third"])
        #expect(
          playing.log.await(limit: 2000) { $0 == .defaultSinkChanged(sink: "third") } != nil)
        sleepMilliseconds(300)
        #expect(playing.output.status.sinkName == "other")
        #expect(playing.log.first { if case .moved = $0 { true } else { false } } == nil)
        try server.unload(module: module)
        #expect(playing.log.await(limit: 3000) { $0 == .moved(sink: "third") } != nil)
        #expect(playing.millisecondsUntilRendering() != nil)
        #expect(playing.output.status.state == .playing)
      }
    }

    /// PipeWire wakes a sink at once that is suspended while a stream plays to it.
    @Test func suspendedSinkWakesUp() throws {
      try PrivatePipeWireServer.withServer { server in
        let playing = try Playing(configuration(server))
        defer { playing.output.stop() }
        sleepMilliseconds(300)
        try server.pactl(["suspend-sink", "ears", "1"])
        #expect(playing.millisecondsUntilRendering() != nil)
        #expect(playing.log.await(limit: 2000) { $0 == .unsuspended } != nil)
        try expectBothChannels(server)
        playing.output.pause()
        sleepMilliseconds(200)
        try server.pactl(["suspend-sink", "ears", "1"])
        let suspended = millisecondsUntil(limit: 2000) {
          playing.output.status.sink?.state == .suspended
        }
        #expect(suspended != nil)
        #expect(playing.output.status.state == .paused)
        sleepMilliseconds(1000)
        #expect(playing.log.first { $0 == .serverFrozen } == nil)
        playing.output.resume()
        #expect(try #require(playing.millisecondsUntilRendering()) < 500)
        #expect(playing.output.status.state == .playing)
        #expect(playing.output.status.losses == 0)
      }
    }
  }
}
