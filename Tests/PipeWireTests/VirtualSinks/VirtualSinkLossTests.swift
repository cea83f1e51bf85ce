// SPDX-License-Identifier: Apache-2.0

import Glibc
import Laboratory
import PipeWire
import PulseAudio
import SoundServer
import Synchronization
import TestSupport
import Testing

extension PipeWireServerTests {
  @Suite(.serialized) struct VirtualSinkLossTests {
    @Test func sinkReturnsAfterAServerRestart() throws {
      try PrivatePipeWireServer.withServer { server in
        let live = try LiveSink(server)
        defer { live.sink.stop() }
        let file = try ToneFile(channels: 6)
        server.kill()
        #expect(live.event(limit: 2000) { if case .serverLost = $0 { true } else { false } })
        try server.restart()
        #expect(live.event(limit: 4000) { $0 == .connected(sink: "ears") })
        let player = try file.play(.pacat, to: live.name, on: server)
        #expect(live.bed.waitFor(frames: 10_000), "\(player.lines.map(\.text))")
      }
    }

    @Test func soundContinuesOnAnotherRealSink() throws {
      try PrivatePipeWireServer.withServer { server in
        let spare = try server.loadSink("spare")
        let live = try LiveSink(server, real: "spare")
        // The session manager must not choose this one for the output of the first.
        let other = try LiveSink(server, channels: 2, name: "stillstage-other")
        defer {
          live.sink.stop()
          other.sink.stop()
        }
        try server.pactl(["set-default-sink", other.name])
        let file = try ToneFile(channels: 6)
        let player = try file.play(.pacat, to: live.name, on: server)
        #expect(live.bed.waitFor(frames: 10_000), "\(player.lines.map(\.text))")
        #expect(live.sink.status.sinkName == "spare")
        try server.unload(module: spare)
        #expect(live.event(limit: 3000) { $0 == .moved(sink: "ears") })
        live.bed.forget()
        #expect(live.bed.waitFor(frames: 10_000))
        #expect(other.bed.frameCount == 0)
      }
    }

    @Test func movesToAnotherSinkWithoutAClick() throws {
      #expect(try largestStepOfMoves() < 0.02)
    }

    /// Moves a tone to and fro, and returns its largest step from one frame to the next.
    private func largestStepOfMoves() throws -> Float {
      try PrivatePipeWireServer.withServer { server in
        _ = try server.loadSink("other")
        let live = try LiveSink(server, channels: 2)
        defer { live.sink.stop() }
        let ears = try capture(server)
        let other = try capture(server, sink: "other")
        let file = try ToneFile(channels: 2)
        let player = try file.play(.pacat, to: live.name, on: server)
        #expect(live.bed.waitFor(frames: 48_000), "\(player.lines.map(\.text))")
        for (name, round) in [("other", 1), ("ears", 2), ("other", 3)] {
          let asked = monotonicNow()
          live.sink.play(to: name)
          #expect(live.event(limit: 3000) { $0 == .moved(sink: name) }, "round \(round)")
          print("moved after \(Double(monotonicNow() - asked) / 1e6) ms")
          sleepMilliseconds(500)
          #expect(live.sink.status.sinkName == name)
        }
        ears.capture.stop()
        other.capture.stop()
        // The largest step of the tone is 0.25 * 2 pi * 300 / 48000 = 0.0098.
        var largest: Float = 0
        for audio in [ears.audio, other.audio] {
          let left = audio.samples.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
          let step = largestStep(in: left)
          let peak = left.map(abs).max() ?? 0
          print("largest step \(step), peak \(peak)")
          #expect(peak > 0.2)
          largest = max(largest, step)
        }
        return largest
      }
    }

    @Test(arguments: ["stillstage-test", "stillstage-test-output"])
    func sinkReturnsAfterAStreamError(node: String) throws {
      try PrivatePipeWireServer.withServer { server in
        let live = try LiveSink(server)
        defer { live.sink.stop() }
        let file = try ToneFile(channels: 6)
        // The streams of an idle sink are inactive, and take no commands.
        let before = try file.play(.pacat, to: live.name, on: server)
        #expect(live.bed.waitFor(frames: 10_000), "\(before.lines.map(\.text))")
        try sendError(to: node, on: server)
        #expect(live.event(limit: 1000) { if case .sinkLost = $0 { true } else { false } })
        #expect(live.event(limit: 3000) { $0 == .connected(sink: "ears") })
        live.bed.forget()
        let player = try file.play(.pacat, to: live.name, on: server)
        #expect(live.bed.waitFor(frames: 10_000), "\(player.lines.map(\.text))")
      }
    }

    @Test(arguments: ["stillstage-test", "stillstage-test-output"])
    func sinkReturnsAfterItsNodeIsDestroyed(node: String) throws {
      try PrivatePipeWireServer.withServer { server in
        let live = try LiveSink(server)
        defer { live.sink.stop() }
        let answer = try ProgramRun.of(
          "pw-cli", ["destroy", node], environment: server.environment.mapValues { $0 })
        #expect(answer.exitCode == 0, "\(answer.errors)")
        #expect(live.event(limit: 2000) { if case .sinkLost = $0 { true } else { false } })
        #expect(live.event(limit: 3000) { $0 == .connected(sink: "ears") })
        let file = try ToneFile(channels: 6)
        let player = try file.play(.pacat, to: live.name, on: server)
        #expect(live.bed.waitFor(frames: 10_000), "\(player.lines.map(\.text))")
      }
    }

    /// Returns the largest step within 150 ms of silence of at least 40 ms, which a move causes. A
    /// cycle that a busy machine leaves out elsewhere does not count.
    private func largestStep(in sound: [Float]) -> Float {
      let heard = [-48_000] + sound.indices.filter { sound[$0] != 0 } + [sound.count + 48_000]
      var largest: Float = 0
      for (last, first) in zip(heard, heard.dropFirst()) where first - last > 1920 {
        for range in [last - 7200...last + 1, first - 1...first + 7200] {
          let part = sound[range.clamped(to: 0...sound.count - 1)]
          largest = zip(part, part.dropFirst()).map { abs($1 - $0) }.reduce(largest, max)
        }
      }
      return largest
    }

    /// PipeWire 0.3.65 leaves a link inactive if a sink is suspended while a stream plays to it.
    @Test func bothChannelsPlayOnAfterTheRealSinkWasSuspended() throws {
      try PrivatePipeWireServer.withServer { server in
        let live = try LiveSink(server)
        defer { live.sink.stop() }
        let file = try ToneFile(channels: 6)
        let player = try file.play(.pacat, to: live.name, on: server)
        #expect(live.bed.waitFor(frames: 10_000), "\(player.lines.map(\.text))")
        try server.pactl(["suspend-sink", "ears", "1"])
        sleepMilliseconds(500)
        try server.pactl(["suspend-sink", "ears", "0"])
        try expectBothChannels(server)
      }
    }

    @Test func graphRunsASinkOnlyWhileAProgramPlaysToIt() throws {
      try PrivatePipeWireServer.withServer { server in
        let live = try LiveSink(server)
        defer { live.sink.stop() }
        let file = try ToneFile(channels: 6, seconds: 30)
        let direct = try file.play(.pacat, to: "ears", on: server)
        sleepMilliseconds(1500)
        #expect(live.bed.calls.load(ordering: .relaxed) == 0, "\(direct.lines.map(\.text))")
        let player = try file.play(.pacat, to: live.name, on: server)
        #expect(live.bed.waitFor(frames: 10_000), "\(player.lines.map(\.text))")
        #expect(live.sink.status.underruns == 0)
        kill(player.pid, SIGTERM)
        sleepMilliseconds(6500)
        let calls = live.bed.calls.load(ordering: .relaxed)
        sleepMilliseconds(500)
        #expect(live.bed.calls.load(ordering: .relaxed) == calls)
        live.bed.forget()
        let next = try file.play(.pacat, to: live.name, on: server)
        #expect(live.bed.waitFor(frames: 10_000), "\(next.lines.map(\.text))")
        kill(next.pid, SIGTERM)
        kill(direct.pid, SIGTERM)
      }
    }

    @Test func killedProgramLeavesNothingBehind() throws {
      try PrivatePipeWireServer.withServer { server in
        let probe = try RunningProgram(
          [
            ProgramRun.builtProducts + "/pipewire-sink-probe", server.socketPath, "stillstage-test",
            "6",
            "ears", "21.4",
          ], environment: server.environment.mapValues { $0 })
        _ = try probe.line(with: "ready")
        try server.pactl(["set-default-sink", "stillstage-test"])
        let (audio, capture) = try capture(server)
        let playerFile = try ToneFile(channels: 6)
        let player = try playerFile.play(.pacat, to: nil, on: server)
        let plays = millisecondsUntil(limit: 4000) {
          audio.samples.suffix(960).contains { $0 != 0 }
        }
        #expect(plays != nil, "\(player.lines.map(\.text))")
        kill(probe.pid, SIGKILL)
        let killed = monotonicNow()
        #expect(probe.wait() != nil)
        sleepMilliseconds(1500)
        capture.stop()
        let names = try PipeWireSinkList.read(serverAddress: server.socketPath).map(\.name)
        #expect(names == ["ears"])
        let arrivals = audio.fragments.filter { $0.arrivalTimeNanoseconds > killed + 1_000_000_000 }
        let samples = audio.samples
        let sound = arrivals.filter { fragment in
          samples[2 * fragment.firstFrame..<2 * (fragment.firstFrame + fragment.frameCount)]
            .contains { $0 != 0 }
        }
        #expect(!arrivals.isEmpty && sound.count == arrivals.count)
        #expect(player.wait(seconds: 0) == nil)
      }
    }
  }
}
