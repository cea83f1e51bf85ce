// SPDX-License-Identifier: Apache-2.0

import PulseAudio
import SoundServer
import Synchronization
import TestSupport
import Testing

@testable import Laboratory

extension ServerTests {
  @Suite(.serialized) struct ConnectionTests {
    @Test func missingServerFailsQuickly() throws {
      let address = "unix:/tmp/no-such-sound-server"
      let start = monotonicNow()
      let error = #expect(throws: SoundServerError.self) { try Playing(configuration(address)) }
      let took = Double(monotonicNow() - start) / 1e6
      print("no server: error after \(took) ms: \(error?.message ?? "")")
      #expect(took < 2500)
      let message = try #require(error?.message)
      #expect(message.contains(address))
      #expect(message.contains("PULSE_SERVER"))
      #expect(!message.contains("\n"))
    }

    @Test func unresponsiveServerTimesOut() throws {
      try PrivatePulseServer.withServer { server in
        server.freeze()
        let start = monotonicNow()
        let error = #expect(throws: SoundServerError.self) {
          try Playing(configuration(server.address))
        }
        let took = Double(monotonicNow() - start) / 1e6
        print("frozen server: error after \(took) ms: \(error?.message ?? "")")
        #expect(took < 2500)
        #expect(error == .serverSilent(address: server.address, milliseconds: 2000))
        #expect(throws: SoundServerError.serverSilent(address: server.address, milliseconds: 300)) {
          try PulseSinkList.read(serverAddress: server.address, timeoutMilliseconds: 300)
        }
        // Once the server has recovered, an output can be started.
        let source = CountingSource()
        let output = try PulseOutput(configuration(server.address), render: source.callback)
        server.thaw()
        try output.start()
        #expect(output.status.state == .playing)
        output.stop()
        output.stop()
        #expect(throws: SoundServerError.stopped) { try output.start() }
      }
    }

    @Test func stopInterruptsAWaitingStart() throws {
      try PrivatePulseServer.withServer { server in
        server.freeze()
        let source = CountingSource()
        let output = try PulseOutput(configuration(server.address), render: source.callback)
        let hasThrown = Mutex(false)
        let waiter = TestThread { _ in
          do { try output.start() } catch { hasThrown.withLock { $0 = true } }
        }
        sleepMilliseconds(200)
        let start = monotonicNow()
        output.stop()
        waiter.stop()
        let took = Double(monotonicNow() - start) / 1e6
        print("stop during connect: \(took) ms")
        #expect(took < 300)
        #expect(hasThrown.withLock { $0 })
      }
    }

    @Test func unknownSinkErrorListsTheSinks() throws {
      try PrivatePulseServer.withServer { server in
        _ = try server.loadSink("other")
        var asked = configuration(server.address)
        asked.sinkName = "eras"
        let expected = SoundServerError.unknownSink(name: "eras", available: ["ears", "other"])
        #expect(throws: expected) { try Playing(asked) }
        #expect(expected.message.contains("ears, other"))
        #expect(throws: expected) {
          try MonitorCapture(serverAddress: server.address, sinkName: "eras") { _, _ in }
        }
        asked.sinkName = "other"
        let playing = try Playing(asked)
        defer { playing.output.stop() }
        #expect(playing.output.status.sinkName == "other")
      }
    }

    @Test func missingSinkIsReported() throws {
      let server = try PrivatePulseServer(hasDefaultSink: false)
      defer { server.stop() }
      #expect(throws: SoundServerError.noSink(address: server.address)) {
        try Playing(configuration(server.address))
      }
    }

    @Test func sinksAreListed() throws {
      try PrivatePulseServer.withServer { server in
        _ = try server.loadSink("other", rate: 44_100)
        let sinks = try PulseSinkList.read(serverAddress: server.address)
        #expect(sinks.map(\.name) == ["ears", "other"])
        #expect(sinks.map(\.sampleRate) == [48_000, 44_100])
        #expect(sinks.map(\.channelCount) == [2, 2])
        #expect(sinks.map(\.description) == ["Private-ears", "Private-other"])
        #expect(sinks.map(\.isDefault) == [true, false])
        #expect(sinks.allSatisfy { $0.portType == nil && $0.state != .unknown })
      }
    }

    @Test func statusNamesTheServer() throws {
      try PrivatePulseServer.withServer { server in
        let playing = try Playing(configuration(server.address))
        defer { playing.output.stop() }
        sleepMilliseconds(200)
        let status = playing.output.status
        #expect(status.serverName == "pulseaudio")
        #expect(status.serverVersion.first?.isNumber == true)
        #expect(status.sinkDescription == "Private-ears")
        #expect(status.sinkSampleRate == 48_000)
        #expect(status.defaultSinkName == "ears")
        #expect(!status.isLatencyApproximate)
        let inputs = try server.pactl(["list", "sink-inputs"])
        #expect(inputs.contains(#"application.name = "Stillstage""#))
        #expect(inputs.contains(#"media.role = "music""#))
        #expect(inputs.contains(#"media.name = "Playback""#))
        #expect(inputs.contains("float32le 2ch 48000Hz"))
        #expect(inputs.contains("front-left,front-right"))
      }
    }
  }
}
