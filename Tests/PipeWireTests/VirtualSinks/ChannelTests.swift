// SPDX-License-Identifier: Apache-2.0

import Glibc
import Laboratory
import PipeWire
import SoundServer
import Synchronization
import TestSupport
import Testing

extension PipeWireServerTests {
  @Suite(.serialized) struct VirtualSinkChannelTests {
    @Test(arguments: Client.allCases, [2, 6, 8])
    func channelsArriveInOrder(client: Client, channels: Int) throws {
      if let package = client.missingPackage {
        print("skipped: needs the Debian package \(package)")
        return
      }
      try PrivatePipeWireServer.withServer { server in
        let live = try LiveSink(server, channels: channels)
        defer { live.sink.stop() }
        let file = try ToneFile(channels: channels)
        let player = try file.play(client, to: live.name, on: server)
        #expect(live.bed.waitFor(frames: 72_000), "\(player.lines.map(\.text))")
        for channel in 0..<channels {
          let sound = live.bed.tail(channel, frames: 24_000)
          let residual = residualDecibels(
            sound, frequency: ToneFile.frequency(channel), sampleRate: 48_000)
          // mpv converts the samples to 16 or 32 bits.
          #expect(residual < -80, "channel \(channel): \(residual) dB")
          let peak = sound.map(abs).max() ?? 0
          #expect(abs(peak - Double(ToneFile.amplitude)) < 0.001, "channel \(channel): \(peak)")
        }
        #expect(live.bed.decreases.load(ordering: .relaxed) <= 1)
      }
    }

    @Test func unusedChannelsAreExactlySilent() throws {
      try PrivatePipeWireServer.withServer { server in
        let live = try LiveSink(server)
        defer { live.sink.stop() }
        let file = try ToneFile(channels: 6, silent: [1, 3, 4])
        let player = try file.play(.pacat, to: live.name, on: server)
        #expect(live.bed.waitFor(frames: 48_000), "\(player.lines.map(\.text))")
        for channel in 0..<6 {
          let peak = live.bed.tail(channel, frames: 48_000).map(abs).max() ?? 1
          #expect((peak == 0) == [1, 3, 4].contains(channel), "channel \(channel): \(peak)")
        }
      }
    }

    @Test func silenceHasNoInputAndAnUnusedSinkCostsNothing() throws {
      try PrivatePipeWireServer.withServer { server in
        let live = try LiveSink(server)
        defer { live.sink.stop() }
        sleepMilliseconds(500)
        #expect(live.bed.calls.load(ordering: .relaxed) == 0)
        let silence = try ToneFile(channels: 6, silent: Set(0..<6))
        do {
          let player = try silence.play(.pacat, to: live.name, on: server)
          let called = millisecondsUntil(limit: 3000) {
            live.bed.calls.load(ordering: .relaxed) > 20
          }
          #expect(called != nil, "\(player.lines.map(\.text))")
          #expect(live.bed.frameCount == 0)
          #expect(live.sink.status.state == .playing)
        }
        // The real sink suspends itself after 5 s.
        let isSuspended = millisecondsUntil(limit: 9000) {
          live.sink.status.sink?.state == .suspended && live.sink.status.state == .suspended
        }
        #expect(isSuspended != nil)
        let calls = live.bed.calls.load(ordering: .relaxed)
        sleepMilliseconds(300)
        #expect(live.bed.calls.load(ordering: .relaxed) == calls)
        let tones = try ToneFile(channels: 6)
        let player = try tones.play(.pacat, to: live.name, on: server)
        #expect(live.bed.waitFor(frames: 10_000), "\(player.lines.map(\.text))")
        #expect(live.sink.status.state == .playing)
        #expect(live.sink.status.losses == 0)
      }
    }

    @Test func volumeAndMuteTakeEffectAndAreReported() throws {
      try PrivatePipeWireServer.withServer { server in
        let live = try LiveSink(server)
        defer { live.sink.stop() }
        let file = try ToneFile(channels: 6)
        let player = try file.play(.pacat, to: live.name, on: server)
        #expect(live.bed.waitFor(frames: 10_000), "\(player.lines.map(\.text))")
        func peak() -> Double {
          sleepMilliseconds(400)
          live.bed.forget()
          guard live.bed.waitFor(frames: 24_000, limit: 1500) else { return 0 }
          return live.bed.tail(0, frames: 24_000).map(abs).max() ?? 0
        }
        #expect(abs(peak() - 0.25) < 0.001)
        // A factor of 0.5, which PulseAudio's cubic scale shows as 79 %.
        try server.pactl(["set-sink-volume", live.name, "0.5"])
        #expect(abs(peak() - 0.125) < 0.002)
        let told = try server.pactl(["get-sink-volume", live.name])
        #expect(told.contains("79%") && told.contains("-6.0"), "\(told)")
        try server.pactl(["set-sink-mute", live.name, "1"])
        #expect(peak() == 0)
        #expect(try server.pactl(["get-sink-mute", live.name]).contains("yes"))
        try server.pactl(["set-sink-mute", live.name, "0"])
        #expect(abs(peak() - 0.125) < 0.002)
      }
    }
  }
}
