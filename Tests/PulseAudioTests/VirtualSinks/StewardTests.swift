// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Glibc
import SoundServer
import Synchronization
import TestSupport
import Testing

@testable import Laboratory
@testable import PulseAudio

/// A flag that another thread sets.
final class PulseSignal: Sendable {
  private let flag = Atomic(false)
  var isSet: Bool { flag.load(ordering: .acquiring) }
  func set() { flag.store(true, ordering: .releasing) }
}

extension ServerTests {
  @Suite(.serialized) struct StewardTests {
    @Test func streamsAreDescribedAndMoved() throws {
      try PrivatePulseServer.withServer { server in
        let playing = try PlayingSink(.surround51, on: server)
        defer { playing.sink.stop() }
        let steward = try PulseSteward(serverAddress: server.address) { _ in }
        defer { steward.stop() }
        let program = try playing.play(
          playing.noise(seconds: 20), on: server, toDefault: true,
          options: ["--property=media.role=Phone", "--client-name=Caller"])
        #expect(waitUntil(seconds: 5) { steward.contents.streams.count == 1 })
        let stream = try #require(steward.contents.streams.first)
        #expect(stream.sink == "ears")
        #expect(
          stream.layout
            == .speakers([
              .frontLeft, .frontRight, .frontCenter, .lowFrequency, .backLeft, .backRight,
            ])
        )
        #expect(stream.channelCount == 6)
        #expect(stream.role == "phone")
        #expect(stream.application == "Caller")
        #expect(stream.processID == Int(program.pid))
        steward.move(stream: stream.id, to: "stillstage-5.1")
        #expect(
          waitUntil(seconds: 3) { steward.contents.streams.first?.sink == "stillstage-5.1" })
        steward.setDefault(sinkName: "stillstage-5.1")
        #expect(waitUntil(seconds: 3) { steward.contents.defaultSink == "stillstage-5.1" })
      }
    }

    @Test func storedSettingsAreForgotten() throws {
      try PrivatePulseServer.withServer { server in
        try server.pactl(["load-module", "module-stream-restore"])
        let playing = try PlayingSink(.stereo, on: server)
        defer { playing.sink.stop() }
        let steward = try PulseSteward(serverAddress: server.address) { _ in }
        defer { steward.stop() }
        _ = try server.loadSink("other")
        let programs = try ["Music", "Film"].map {
          try playing.play(
            playing.noise(seconds: 20), on: server, toDefault: true,
            options: ["--client-name=\($0)"])
        }
        defer { withExtendedLifetime(programs) {} }
        #expect(waitUntil(seconds: 5) { steward.contents.streams.count == 2 })
        for stream in steward.contents.streams {
          steward.move(
            stream: stream.id, to: stream.application == "Film" ? "other" : "stillstage-stereo")
        }
        func devices() throws -> [String] {
          let connection = try ClientConnection(
            serverAddress: server.address, applicationName: "test", timeoutMilliseconds: 2000)
          defer { connection.close() }
          return try connection.loop.locked { () throws(SoundServerError) in
            try connection.storedStreams().compactMap(\.device).sorted()
          }
        }
        #expect(waitUntil(seconds: 3) { (try? devices()) == ["other", "stillstage-stereo"] })
        steward.forget(sinksWithPrefix: "stillstage-")
        #expect(try devices() == ["other"])
        #expect(
          waitUntil(seconds: 3) {
            Set(steward.contents.streams.compactMap(\.sink)) == ["ears", "other"]
          })
      }
    }

    @Test func restartOfTheServerIsReported() throws {
      try PrivatePulseServer.withServer { server in
        let steward = try PulseSteward(serverAddress: server.address) { _ in }
        defer { steward.stop() }
        #expect(waitUntil(seconds: 3) { steward.contents.defaultSink == "ears" })
        server.kill()
        #expect(waitUntil(seconds: 3) { steward.contents == ServerContents() })
        try server.restart()
        #expect(waitUntil(seconds: 5) { steward.contents.defaultSink == "ears" })
      }
    }
  }

  @Suite(.serialized) struct KeeperTests {
    /// A killed or interrupted program leaves nothing behind, and other programs go on playing.
    @Test(arguments: [SIGKILL, SIGINT])
    func deathOfTheOwnerIsCleanedUp(signal: Int32) throws {
      try PrivatePulseServer.withServer { server in
        let folder = TemporaryFolder()
        let probe = try startProbe(server, folder)
        try server.pactl(["set-default-sink", "stillstage-5.1"])
        let steward = try PulseSteward(serverAddress: server.address) { _ in }
        defer { steward.stop() }
        let program = try RunningProgram(
          ["pacat", "--playback", "--raw", "--channels=6", "/dev/zero"],
          environment: ["PULSE_SERVER": server.address])
        defer { withExtendedLifetime(program) {} }
        #expect(
          waitUntil(seconds: 3) { steward.contents.streams.last?.sink == "stillstage-5.1" })
        let time = monotonicNow()
        kill(signal == SIGINT ? -probe.pid : probe.pid, signal)
        #expect(
          waitUntil(seconds: 5) {
            let contents = steward.contents
            return contents.sinks.map(\.name) == ["ears"] && contents.defaultSink == "ears"
              && contents.streams.map(\.sink) == ["ears"]
          })
        let milliseconds = Double(monotonicNow() - time) / 1e6
        print("keeper: cleaned up after \(milliseconds) ms")
        #expect(milliseconds < 1000)
        #expect(program.wait(seconds: 0.3) == nil)
        #expect(waitUntil(seconds: 2) { SystemFile.names(in: folder.file("stillstage")) == [] })
      }
    }

    @Test func killedKeeperIsReplaced() throws {
      try PrivatePulseServer.withServer { server in
        let folder = TemporaryFolder()
        let probe = try startProbe(server, folder)
        let line = try #require(probe.lines.first { $0.text.contains("started keeper") })
        let keeper = try #require(Int32(line.text.split(separator: " ").last ?? ""))
        kill(keeper, SIGKILL)
        sleepMilliseconds(500)
        kill(probe.pid, SIGKILL)
        #expect(
          waitUntil(seconds: 2) {
            (try? server.pactl(["list", "short", "sinks"]))?.contains("stillstage") == false
          })
      }
    }

    @Test func orphansAreRemoved() throws {
      try PrivatePulseServer.withServer { server in
        try server.pactl([
          "load-module", "module-null-sink", "sink_name=stillstage-7.1",
          "sink_properties='device.description=\"x\" stillstage.owner=\"999999-1\"'",
        ])
        try server.pactl([
          "load-module", "module-null-sink", "sink_name=stillstage-5.1",
          "sink_properties='stillstage.owner=\"\(SinkOwner.current.text)\"'",
        ])
        try server.pactl(["set-default-sink", "stillstage-7.1"])
        try PulseOrphans.remove(serverAddress: server.address, fallback: "ears")
        let sinks = try PulseSinkList.read(serverAddress: server.address)
        #expect(sinks.map(\.name) == ["ears", "stillstage-5.1"])
        #expect(sinks.first(where: \.isDefault)?.name == "ears")
      }
    }

    private func startProbe(
      _ server: PrivatePulseServer, _ folder: TemporaryFolder
    ) throws -> RunningProgram {
      let probe = try RunningProgram(
        [ProgramRun.builtProducts + "/pulse-sink-probe", "5.1", "ears"],
        environment: ["PULSE_SERVER": server.address, "XDG_RUNTIME_DIR": folder.path],
        input: .pipe)
      _ = try probe.line(with: "started keeper")
      return probe
    }
  }
}
