// SPDX-License-Identifier: Apache-2.0

import PulseAudio
import SoundServer
import Synchronization
import TestSupport
import Testing

@testable import Laboratory

extension ServerTests {
  @Suite(.serialized) struct LossTests {
    @Test func playbackResumesAfterAServerRestart() throws {
      try PrivatePulseServer.withServer { server in
        let (before, firstCapture) = try capture(server.address)
        let playing = try Playing(configuration(server.address, latency: 100))
        defer { playing.output.stop() }
        sleepMilliseconds(800)
        let died = monotonicNow()
        server.kill()
        let lost = try #require(
          playing.log.await(limit: 1000, after: died) {
            if case .serverLost = $0 { true } else { false }
          })
        firstCapture.stop()
        let written = playing.output.status.framesWritten
        sleepMilliseconds(700)
        let waiting = playing.output.status
        #expect(waiting.state == .serverLost)
        #expect(waiting.framesWritten == written)
        #expect(playing.source.nextFrame.load(ordering: .relaxed) == written)

        let returned = try server.restart()
        let (after, secondCapture) = try capture(server.address)
        let back = try #require(
          playing.log.await(limit: 2000, after: returned) {
            if case .connected = $0 { true } else { false }
          })
        let moves = try #require(
          millisecondsUntil(limit: 1000) { playing.output.status.framesWritten > written })
        let resumed = Double(back.timeNanoseconds - returned) / 1e6
        sleepMilliseconds(600)
        secondCapture.stop()
        let reportDelay = Double(lost.timeNanoseconds - died) / 1e6
        print(
          "server killed: reported after \(reportDelay) ms;",
          "playing \(resumed) ms after its return")
        #expect(resumed < 500)
        #expect(moves < 300)
        #expect(playing.output.status.losses == 1)
        let recording = Recording(after)
        #expect(recording.jumps.isEmpty)
        let queued = playing.output.status.framesQueuedAtLoss
        let heard = try #require(Recording(before).heard.last) + 1
        print("lost with the queue: reported \(queued), recorded \(Int(written) - heard) frames")
        #expect(abs(queued - (Int(written) - heard)) < 48 * 45)
        // The second capture may begin late, but it must contain only frames rendered since the
        // loss.
        #expect(try #require(recording.heard.first) >= Int(written))
        #expect(recording.heard.last! > Int(written) + 9600)
        #expect(playing.source.decreases.load(ordering: .relaxed) == 0)
      }
    }

    @Test func frozenServerIsReportedAndCallsDoNotBlock() throws {
      try PrivatePulseServer.withServer { server in
        let playing = try Playing(configuration(server.address))
        sleepMilliseconds(500)
        let frozen = monotonicNow()
        server.freeze()
        let event = try #require(playing.log.await(limit: 2000) { $0 == .serverFrozen })
        #expect(playing.output.status.state == .serverFrozen)
        let reportDelay = Double(event.timeNanoseconds - frozen) / 1e6
        let thawed = monotonicNow()
        server.thaw()
        let well = try #require(playing.log.await(limit: 2000) { $0 == .serverThawed })
        let recovered = Double(well.timeNanoseconds - thawed) / 1e6
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
        print(
          "server frozen: reported after \(reportDelay) ms;",
          "recovery reported after \(recovered) ms; longest call \(longest) ms")
        #expect(reportDelay < 1100)
        #expect(recovered < 500)
        #expect(longest < 300)
        #expect(playing.output.status.state == .stopped)
      }
    }

    @Test func frozenServerIsReportedWhilePaused() throws {
      try PrivatePulseServer.withServer { server in
        let playing = try Playing(configuration(server.address))
        defer { playing.output.stop() }
        playing.output.pause()
        sleepMilliseconds(700)
        #expect(playing.log.first { $0 == .serverFrozen } == nil)
        server.freeze()
        #expect(playing.log.await(limit: 1500) { $0 == .serverFrozen } != nil)
        server.thaw()
        #expect(playing.log.await(limit: 1000) { $0 == .serverThawed } != nil)
        #expect(playing.output.status.state == .paused)
      }
    }

    @Test func playbackResumesWhenARemovedSinkIsReplaced() throws {
      try PrivatePulseServer.withServer { server in
        let playing = try Playing(configuration(server.address))
        defer { playing.output.stop() }
        sleepMilliseconds(400)
        try server.unloadAllSinks()
        let lost = playing.log.await(limit: 1000) {
          if case .sinkLost = $0 { true } else { false }
        }
        #expect(lost != nil)
        let written = playing.output.status.framesWritten
        sleepMilliseconds(400)
        #expect(playing.output.status.state == .sinkLost)
        #expect(playing.output.status.framesWritten == written)
        _ = try server.loadSink("spare")
        let returned = monotonicNow()
        let back = try #require(
          playing.log.await(limit: 2000) { $0 == .connected(sink: "spare") })
        print("sink back: playing after \(Double(back.timeNanoseconds - returned) / 1e6) ms")
        #expect(back.timeNanoseconds - returned < 500_000_000)
        sleepMilliseconds(300)
        #expect(playing.output.status.framesWritten > written)
        #expect(playing.output.status.sinkName == "spare")
        #expect(playing.output.status.sinkDescription == "Private-spare")
        #expect(playing.output.status.losses == 1)
      }
    }

    @Test func statusFollowsMovesBetweenSinks() throws {
      try PrivatePulseServer.withServer { server in
        let module = try server.loadSink("other", rate: 44_100)
        let playing = try Playing(configuration(server.address))
        defer { playing.output.stop() }
        sleepMilliseconds(300)
        #expect(playing.output.status.sinkName == "ears")
        try server.pactl(["set-default-sink", "other"])
        #expect(playing.log.await(limit: 1000) { $0 == .moved(sink: "other") } != nil)
        #expect(
          playing.log.await(limit: 1000) { $0 == .defaultSinkChanged(sink: "other") } != nil)
        sleepMilliseconds(300)
        #expect(playing.output.status.sinkName == "other")
        // PulseAudio may change an idle sink's rate to that of the stream.
        let sinks = try PulseSinkList.read(serverAddress: server.address)
        #expect(sinks.first { $0.name == "other" }?.isDefault == true)
        #expect(
          playing.output.status.sinkSampleRate
            == sinks.first { $0.name == "other" }?.sampleRate)
        #expect(playing.output.status.state == .playing)
        let written = playing.output.status.framesWritten
        try server.unload(module: module)
        #expect(playing.log.await(limit: 1000) { $0 == .moved(sink: "ears") } != nil)
        sleepMilliseconds(300)
        #expect(playing.output.status.framesWritten > written)
        #expect(playing.output.status.losses == 0)
        #expect(playing.source.decreases.load(ordering: .relaxed) == 0)
      }
    }

    @Test func suspensionIsReported() throws {
      try PrivatePulseServer.withServer { server in
        let playing = try Playing(configuration(server.address))
        defer { playing.output.stop() }
        sleepMilliseconds(300)
        try server.pactl(["suspend-sink", "ears", "1"])
        #expect(playing.log.await(limit: 1000) { $0 == .suspended } != nil)
        sleepMilliseconds(1200)
        #expect(playing.output.status.state == .suspended)
        #expect(playing.log.first { $0 == .serverFrozen } == nil)
        let written = playing.output.status.framesWritten
        try server.pactl(["suspend-sink", "ears", "0"])
        #expect(playing.log.await(limit: 1000) { $0 == .unsuspended } != nil)
        sleepMilliseconds(400)
        #expect(playing.output.status.state == .playing)
        #expect(playing.output.status.framesWritten > written)
      }
    }
  }
}
