// SPDX-License-Identifier: Apache-2.0

import Glibc
import PulseAudio
import SoundServer
import TestSupport
import Testing

@testable import Laboratory

extension ServerTests {
  @Suite(.serialized) struct VirtualSinkTests {
    /// Every channel arrives in its place, bit by bit, and unused channels are exactly silent. A
    /// busy machine can cause a gap, so it tries up to three times.
    @Test(arguments: [SinkLayout.stereo, .surround51, .surround71])
    func channelsArriveUnchanged(layout: SinkLayout) throws {
      try PrivatePulseServer.withServer { server in
        let playing = try PlayingSink(layout, on: server)
        defer { playing.sink.stop() }
        let sent = playing.noise(
          seconds: 1, silent: layout.name == "stereo" ? [] : [2, playing.recorder.channelCount - 1])
        var heard: [Float] = []
        for attempt in 0..<3 where heard != sent {
          if attempt > 0 { recordRetry("\(heard.count) of \(sent.count) samples") }
          playing.recorder.forget()
          let program = try playing.play(sent, on: server)
          #expect(program.wait() == 0)
          sleepMilliseconds(300)
          heard = playing.recorder.heard
        }
        #expect(heard == sent)
      }
    }

    @Test func programsSeeTheChannels() throws {
      try PrivatePulseServer.withServer { server in
        let playing = try PlayingSink(.surround51, on: server)
        defer { playing.sink.stop() }
        let text = try server.pactl(["list", "sinks"])
        #expect(text.contains("Channel Map: \(playing.layout.map)"))
        #expect(text.contains("Description: Stillstage 5.1"))
        playing.sink.stop()
        #expect(try !server.pactl(["list", "short", "sinks"]).contains("stillstage"))
        #expect(playing.folder.names.isSuperset(of: ["stillstage"]))
      }
    }

    @Test func volumeAndMuteTakeEffect() throws {
      try PrivatePulseServer.withServer { server in
        let playing = try PlayingSink(.stereo, on: server)
        defer { playing.sink.stop() }
        let sent = playing.noise(seconds: 30)
        let program = try playing.play(sent, on: server)
        _ = program
        #expect(waitUntil(seconds: 5) { !playing.recorder.heard.isEmpty })
        func peak() -> Float {
          sleepMilliseconds(400)
          playing.recorder.forget()
          sleepMilliseconds(300)
          return playing.recorder.samples.max() ?? -1
        }
        #expect(abs(peak() - 0.5) < 0.01)
        try server.pactl(["set-sink-volume", "stillstage-stereo", "50%"])
        #expect(abs(peak() - 0.0625) < 0.002)
        try server.pactl(["set-sink-mute", "stillstage-stereo", "1"])
        #expect(peak() == 0)
      }
    }

    /// The start of the sound is complete and on time after the sink has been idle.
    @Test func idleSinkStartsAtOnce() throws {
      try PrivatePulseServer.withServer { server in
        let playing = try PlayingSink(.surround71, on: server)
        defer { playing.sink.stop() }
        var delay = Double.infinity
        for attempt in 0..<3 where delay > 50 {
          if attempt > 0 { recordRetry("\(delay) ms") }
          sleepMilliseconds(500)
          playing.sink.setInUse(false)
          sleepMilliseconds(300)
          let idle = playing.recorder.frameCount
          sleepMilliseconds(300)
          #expect(playing.recorder.frameCount == idle)
          playing.recorder.forget()
          let started = PulseSignal()
          let steward = try PulseSteward(serverAddress: server.address) {
            if !$0.streams.isEmpty { started.set() }
          }
          defer { steward.stop() }
          let sent = playing.noise(seconds: 0.5)
          let program = try playing.play(sent, on: server, options: ["--latency-msec=50"])
          #expect(waitUntil(seconds: 5) { started.isSet })
          let time = monotonicNow()
          playing.sink.setInUse(true)
          #expect(program.wait() == 0)
          let first = try #require(playing.recorder.firstTime)
          delay = Double(first - time) / 1e6
          print("idle sink: sound after \(delay) ms")
          #expect(playing.recorder.heard.starts(with: sent.prefix(800)))
        }
        #expect(delay < 50)
      }
    }

    @Test func restartOfTheServerIsSurvived() throws {
      try PrivatePulseServer.withServer { server in
        let playing = try PlayingSink(.stereo, on: server)
        defer { playing.sink.stop() }
        server.kill()
        try server.restart()
        #expect(
          waitUntil(seconds: 5) {
            (try? server.pactl(["list", "short", "sinks"]))?.contains("stillstage") == true
          })
        #expect(waitUntil(seconds: 5) { playing.sink.status.state == .playing })
        playing.recorder.forget()
        let program = try playing.play(playing.noise(seconds: 0.5), on: server)
        #expect(program.wait() == 0)
        sleepMilliseconds(300)
        #expect(playing.recorder.heard.count > 40_000)
      }
    }

    /// The output never follows the default sink into the virtual sink, and changes on request.
    @Test func outputStaysOnTheRealSink() throws {
      try PrivatePulseServer.withServer { server in
        _ = try server.loadSink("other")
        let playing = try PlayingSink(.stereo, on: server)
        defer { playing.sink.stop() }
        try server.pactl(["set-default-sink", "stillstage-stereo"])
        sleepMilliseconds(300)
        #expect(playing.sink.status.sinkName == "ears")
        #expect(playing.sink.status.state == .playing)
        playing.sink.play(to: "other")
        #expect(waitUntil(seconds: 3) { playing.sink.status.sinkName == "other" })
      }
    }

    /// A real sink that is missing for a moment, such as headphones that connect again.
    @Test func outputWaitsForAMissingSink() throws {
      try PrivatePulseServer.withServer { server in
        let playing = try PlayingSink(.stereo, on: server)
        defer { playing.sink.stop() }
        playing.sink.play(to: "later")
        sleepMilliseconds(500)
        _ = try server.loadSink("later")
        #expect(
          waitUntil(seconds: 5) {
            playing.sink.status.sinkName == "later" && playing.sink.status.state == .playing
          })
      }
    }

    @Test func twoHundredStreamsComeAndGo() throws {
      try PrivatePulseServer.withServer { server in
        let playing = try PlayingSink(.stereo, on: server)
        defer { playing.sink.stop() }
        let steward = try PulseSteward(serverAddress: server.address) { _ in }
        defer { steward.stop() }
        let sent = playing.noise(seconds: 0.05)
        for _ in 0..<20 {
          let programs = try (0..<10).map { _ in try playing.play(sent, on: server) }
          for program in programs { #expect(program.wait(seconds: 20) == 0) }
        }
        #expect(waitUntil(seconds: 3) { steward.contents.streams.isEmpty })
        #expect(steward.contents.sinks.map(\.name) == ["ears", "stillstage-stereo"])
        #expect(playing.sink.status.state == .playing)
        playing.recorder.forget()
        let program = try playing.play(playing.noise(seconds: 0.5), on: server)
        #expect(program.wait() == 0)
        sleepMilliseconds(200)
        #expect(playing.recorder.heard.count > 40_000)
      }
    }
  }
}
