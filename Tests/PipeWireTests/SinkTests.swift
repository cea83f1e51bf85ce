// SPDX-License-Identifier: Apache-2.0

import Laboratory
import PipeWire
import PulseAudio
import SoundServer
import Synchronization
import TestSupport
import Testing

@testable import PipeWire

extension PipeWireServerTests {
  @Suite(.serialized) struct SinkTests {
    @Test func sinksAreDescribedAsByThePulseAudioProtocol() throws {
      try PrivatePipeWireServer.withServer { server in
        _ = try server.loadSink(
          "phones", rate: 44_100,
          properties: "device.form_factor=headphone device.icon_name=audio-headphones")
        _ = try server.loadSink("box", properties: "device.form_factor=speaker")
        let own = try PipeWireSinkList.read(serverAddress: server.socketPath)
        let other = try PulseSinkList.read(serverAddress: server.address)
        #expect(own.count == 3)
        func facts(_ sinks: [Sink]) -> [[String]] {
          sinks.map {
            [
              $0.name, $0.description, "\($0.sampleRate)", "\($0.channelCount)",
              $0.formFactor ?? "-", $0.iconName ?? "-", "\($0.ports)", "\($0.isDefault)",
            ]
          }.sorted { $0[0] < $1[0] }
        }
        #expect(facts(own) == facts(other))
        #expect(own.first { $0.name == "phones" }?.formFactor == "headphone")
        #expect(own.first { $0.isDefault }?.name == "ears")
      }
    }

    /// Collects what a monitor reports.
    private final class Reports: Sendable {
      let sinks = Mutex<[[Sink]]>([])
      var last: [Sink]? { sinks.withLock { $0.last } }
    }

    @Test func monitorReportsEveryChange() throws {
      try PrivatePipeWireServer.withServer { server in
        let reports = Reports()
        let monitor = try PipeWireSinkMonitor(serverAddress: server.socketPath) { sinks in
          reports.sinks.withLock { $0.append(sinks) }
        }
        func until(_ condition: ([Sink]) -> Bool) -> Double? {
          millisecondsUntil(limit: 3000) { reports.last.map(condition) ?? false }
        }
        #expect(until { $0.map(\.name) == ["ears"] && $0[0].isDefault } != nil)
        let module = try server.loadSink("other")
        #expect(until { $0.contains { $0.name == "other" } } != nil)
        try server.pactl(["set-default-sink", "other"])
        #expect(until { $0.contains { $0.name == "other" && $0.isDefault } } != nil)
        try server.unload(module: module)
        #expect(until { $0.map(\.name) == ["ears"] && $0[0].isDefault } != nil)
        #expect(monitor.sinks == reports.last)
        server.kill()
        #expect(until(\.isEmpty) != nil)
        try server.restart()
        #expect(until { $0.contains { $0.name == "ears" && $0.isDefault } } != nil)
        monitor.stop()
        monitor.stop()
        let count = reports.sinks.withLock { $0.count }
        server.kill()
        sleepMilliseconds(300)
        #expect(reports.sinks.withLock { $0.count } == count)
      }
    }

    @Test func defaultSinkIsReadFromMetadata() {
      #expect(nameInJSON(#"{"name":"ears"}"#) == "ears")
      #expect(nameInJSON(#"{ "name": "ears" }"#) == "ears")
      #expect(nameInJSON(#"{"rate":1,"name":"a \"b\" \\ c"}"#) == #"a "b" \ c"#)
      for damaged in ["", "{}", #"{"name"}"#, #"{"name":"#, #"{"name":"open"#, #"{"name":1}"#] {
        #expect(nameInJSON(damaged) == nil, "\(damaged)")
      }
    }
  }
}
