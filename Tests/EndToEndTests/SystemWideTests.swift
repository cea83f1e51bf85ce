// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Laboratory

extension EndToEndTests {
  /// Tests `stillstage sink` with programs on real servers.
  @Suite(
    .serialized,
    .enabled(
      if: SystemWideServer.missingPackage == nil,
      "needs the Debian package '\(SystemWideServer.missingPackage ?? "")'"))
  struct SystemWideTests {
    private struct Status: Decodable {
      struct Sink: Decodable {
        let layout: String
        let isInUse: Bool
        let rendererDelayMilliseconds: Double
      }
      struct Output: Decodable { let sink: String }
      let pid: Int32
      let isDefault: Bool
      let mode: String
      let output: Output?
      let sinks: [Sink]
    }

    private func status(_ server: SystemWideServer) throws -> Status {
      let run = try server.sink("--status", "--json")
      #expect(run.exitCode == 0 && run.errors.isEmpty, "\(run.errors)")
      return try JSONDecoder().decode(Status.self, from: Data(run.output.utf8))
    }

    @Test(
      "Each stream plays to the sink with its channels", arguments: SystemWideServer.Kind.allCases)
    func streamsAreRouted(kind: SystemWideServer.Kind) throws {
      try SystemWideServer.with(kind) { server in
        let sink = try server.startSink()
        let wanted = [2: "stillstage-stereo", 6: "stillstage-5.1", 8: "stillstage-7.1"]
        let programs = try wanted.keys.map { try server.startPlaying(channels: $0) }
        for (channels, name) in wanted {
          #expect(
            waitUntil(seconds: 8) { (try? server.sinksOfStreams(channels: channels)) == [name] },
            "\(channels): \((try? server.sinksOfStreams(channels: channels)) ?? [])")
        }
        // A phone call goes to the real sink.
        let call = try server.startPlaying(channels: 1, properties: ["media.role=phone"])
        #expect(
          waitUntil(seconds: 8) { (try? server.sinksOfStreams(channels: 1)) == ["ears"] },
          "\((try? server.sinksOfStreams(channels: 1)) ?? [])")
        let now = try status(server)
        #expect(now.pid == sink.pid)
        #expect(now.isDefault && now.mode == "tracked" && now.output?.sink == "ears")
        #expect(now.sinks.map(\.layout) == ["stereo", "5.1", "7.1"])
        #expect(now.sinks.allSatisfy { $0.isInUse && $0.rendererDelayMilliseconds > 1 })
        for program in programs + [call] { kill(program.pid, SIGTERM) }
        kill(sink.pid, SIGTERM)
        #expect(sink.wait(seconds: 8) == 143)
      }
    }

    @Test("A stream that the user moves stays there", arguments: SystemWideServer.Kind.allCases)
    func movedStreamStays(kind: SystemWideServer.Kind) throws {
      try SystemWideServer.with(kind) { server in
        let sink = try server.startSink()
        let program = try server.startPlaying(channels: 2)
        #expect(
          waitUntil(seconds: 8) {
            (try? server.sinksOfStreams(channels: 2)) == ["stillstage-stereo"]
          })
        sleepSeconds(1)
        let streams = try server.pactl("list", "short", "sink-inputs").split(separator: "\n")
        let id = try #require(streams.first { $0.contains("s16le") }?.prefix { $0.isNumber })
        try server.pactl("move-sink-input", String(id), "ears")
        sleepSeconds(3)
        let place = try server.sinksOfStreams(channels: 2)
        #expect(place == ["ears"], "\(sink.lines.map(\.text))")
        kill(program.pid, SIGTERM)
        kill(sink.pid, SIGINT)
        #expect(sink.wait(seconds: 8) == 130)
      }
    }

    @Test("A normal end leaves nothing behind", arguments: SystemWideServer.Kind.allCases)
    func endRestoresEverything(kind: SystemWideServer.Kind) throws {
      try SystemWideServer.with(kind) { server in
        let sink = try server.startSink()
        let program = try server.startPlaying(channels: 6)
        #expect(
          waitUntil(seconds: 8) { (try? server.sinksOfStreams(channels: 6)) == ["stillstage-5.1"] })
        kill(sink.pid, SIGTERM)
        #expect(sink.wait(seconds: 8) == 143)
        #expect(try server.defaultSink == "ears")
        #expect(try server.sinks == ["ears"])
        #expect(try server.sinksOfStreams(channels: 6) == ["ears"])
        #expect(program.endTime == nil)
        #expect(try server.sink("--status").exitCode == 1)
        kill(program.pid, SIGTERM)
      }
    }

    @Test(
      "After a kill, programs play on at the real sink", arguments: SystemWideServer.Kind.allCases)
    func killedInstanceIsCleanedUp(kind: SystemWideServer.Kind) throws {
      try SystemWideServer.with(kind) { try killAndCleanUp($0) }
    }

    private func killAndCleanUp(_ server: SystemWideServer) throws {
      // The user's default is not the sink that the server would choose.
      try server.pactl(
        "load-module", "module-null-sink", "sink_name=other", "channels=2", "rate=48000")
      try server.pactl("set-default-sink", "other")
      #expect(waitUntil(seconds: 3) { server.hasDefault("other") })
      let sink = try server.startSink()
      let program = try server.startPlaying(channels: 6)
      #expect(waitUntil(seconds: 8) { server.plays(channels: 6, to: "stillstage-5.1") })
      kill(sink.pid, SIGKILL)
      let start = monotonicNow()
      let isRestored = waitUntil(seconds: 5) {
        server.hasDefault("other") && server.plays(channels: 6, to: "other")
      }
      let took = milliseconds(start, monotonicNow())
      print("restored \(took) ms after a kill")
      #expect(isRestored)
      #expect(took < 1500)
      #expect(program.endTime == nil)
      let cleanUp = try server.sink("--clean-up")
      #expect(cleanUp.exitCode == 0, "\(cleanUp.errors)")
      #expect(try Set(server.sinks) == ["ears", "other"])
      // The next instance starts as usual.
      let next = try server.startSink()
      kill(next.pid, SIGTERM)
      #expect(next.wait(seconds: 8) == 143)
      #expect(server.hasDefault("other"))
      kill(program.pid, SIGTERM)
    }

    @Test("A running instance is controlled by others", arguments: SystemWideServer.Kind.allCases)
    func instanceIsControlled(kind: SystemWideServer.Kind) throws {
      try SystemWideServer.with(kind) { server in
        let sink = try server.startSink()
        let second = try server.sink("--tracker", "none")
        #expect(second.exitCode == 1 && second.errors.contains("already running"))
        #expect(try server.sink("--mode", "off").exitCode == 0)
        #expect(try status(server).mode == "off")
        #expect(try server.sink("--recentre").exitCode == 0)
        kill(sink.pid, SIGTERM)
        #expect(sink.wait(seconds: 8) == 143)
      }
    }
  }
}
