// SPDX-License-Identifier: Apache-2.0

import Capture
import Laboratory
import SoundServer
import TestSupport
import Testing

@testable import PulseAudio

/// All tests that need a server. They run one after another, because they measure times.
@Suite(.serialized) enum CaptureServerTests {}

extension CaptureServerTests {
  @Suite(.serialized) struct InputTests {
    @Test func inputsAreListedWithTheirProperties() throws {
      try PrivatePulseServer.withServer { server in
        var form = VirtualMicrophone.Form()
        (form.rate, form.channels, form.format) = (44_100, 3, "s24le")
        form.values = { _, _ in 0 }
        let microphone = try VirtualMicrophone(server, form)
        defer { microphone.stop() }
        let inputs = try Inputs.list(serverAddress: server.address)
        let input = try #require(inputs.first { $0.name == "mic" })
        #expect(input.sampleRate == 44_100)
        #expect(input.channelMap == ["aux0", "aux1", "aux2"])
        #expect(input.encoding == .int24)
        #expect(!input.isMonitor)
        let monitor = try #require(inputs.first { $0.name == "ears.monitor" })
        #expect(monitor.monitoredSink == "ears")
        #expect(monitor.channelMap == ["front-left", "front-right"])
        try server.pactl(["set-default-source", "mic"])
        let again = try Inputs.list(serverAddress: server.address)
        #expect(again.filter(\.isDefault).map(\.name) == ["mic"])
      }
    }

    @Test func changesAreAStream() async throws {
      let server = try PrivatePulseServer()
      defer { server.stop() }
      let inputs = try Inputs(serverAddress: server.address)
      let first = try VirtualMicrophone(server)
      defer { first.stop() }
      #expect(isTrue(within: 3000) { inputs.current.contains { $0.name == "mic" } })
      let changes = inputs.changes
      var names: [[String]] = []
      for await list in changes {
        names.append(list.map(\.name).filter { !$0.hasSuffix(".monitor") })
        if names.count == 1 { try server.unload(module: first.module) }
        if names.last == [] { break }
      }
      #expect(names.first == ["mic"])
    }

    @Test func theListReturnsAfterTheServerDoes() throws {
      try PrivatePulseServer.withServer { server in
        let inputs = try Inputs(serverAddress: server.address)
        #expect(isTrue(within: 3000) { !inputs.current.isEmpty })
        server.kill()
        #expect(isTrue(within: 3000) { inputs.current.isEmpty })
        try server.restart()
        #expect(isTrue(within: 3000) { !inputs.current.isEmpty })
      }
    }

    @Test func metersHaveTheChannelsOfTheirInputs() throws {
      try PrivatePulseServer.withServer { server in
        var forms: [VirtualMicrophone.Form] = []
        for index in 0..<3 {
          var form = VirtualMicrophone.Form()
          form.name = "mic\(index)"
          form.channels = 2 << index
          form.values = { _, channel in channel == index ? 0.25 : 0.125 }
          forms.append(form)
        }
        let microphones = try forms.map { try VirtualMicrophone(server, $0) }
        defer { for microphone in microphones { microphone.stop() } }
        let inputs = try Inputs(serverAddress: server.address, metering: .inputs)
        var heard: Set<String> = []
        #expect(
          isTrue(within: 5000) {
            heard.formUnion(inputs.takePeaks().keys)
            return heard.count == 3
          })
        sleepMilliseconds(300)
        let peaks = inputs.takePeaks()
        #expect(peaks.count == 3)
        for (index, form) in forms.enumerated() {
          let levels = try #require(peaks[form.name])
          #expect(levels.count == form.channels)
          for (channel, level) in levels.enumerated() {
            #expect(abs(level - (channel == index ? 0.25 : 0.125)) < 1e-4)
          }
        }
      }
    }

    @Test(
      .enabled(if: PrivatePipeWireServer.missingPackage == nil, "PipeWire is not installed"))
    func everyMeterOnPipeWireIsUpToDate() throws {
      let server = try PrivatePipeWireServer()
      defer { server.stop() }
      try server.pactl(["load-module", "module-null-sink", "sink_name=feed", "channels=2"])
      for index in 0..<8 {
        try server.pactl([
          "load-module", "module-remap-source", "source_name=mic\(index)", "master=feed.monitor",
        ])
      }
      let inputs = try Inputs(serverAddress: server.address, metering: .inputs)
      var heard: Set<String> = []
      #expect(
        isTrue(within: 20_000) {
          heard.formUnion(inputs.takePeaks().keys)
          return heard.count == 8
        })
      // Each meter has a packet every 85 ms.
      var counts: [Int] = []
      for _ in 0..<8 {
        sleepMilliseconds(500)
        counts.append(inputs.takePeaks().count)
      }
      #expect(counts.count { $0 == 8 } >= 5, "\(counts)")
    }
  }
}

struct InputChoiceTests {
  private func input(_ name: String, isDefault: Bool = false, isMonitor: Bool = false) -> Input {
    var input = Input()
    (input.name, input.isDefault) = (name, isDefault)
    input.monitoredSink = isMonitor ? "sink" : nil
    return input
  }

  @Test func aMonitorIsUsedOnlyIfItIsNamed() {
    let monitor = input("out.monitor", isDefault: true, isMonitor: true)
    let (first, second) = (input("first"), input("second"))
    let all = [monitor, first, second]
    #expect(InputChoice.automatic(remembered: nil).outcome(among: all) == .found(first))
    #expect(InputChoice.automatic(remembered: "second").outcome(among: all) == .found(second))
    #expect(
      InputChoice.automatic(remembered: "third").outcome(among: all)
        == .substitute(first, missing: "third"))
    #expect(
      InputChoice.automatic(remembered: "out.monitor").outcome(among: all)
        == .monitorRefused(first, monitor: "out.monitor"))
    #expect(InputChoice.automatic(remembered: "out.monitor").outcome(among: [monitor]) == .none)
    #expect(InputChoice.named("out.monitor").outcome(among: all) == .found(monitor))
  }

  @Test func noServerIsAnError() {
    #expect(throws: SoundServerError.self) {
      try Inputs.list(serverAddress: "unix:/nonexistent/socket")
    }
  }

  @Test func aMissingInputIsUnknown() {
    #expect(InputChoice.named("a").outcome(among: []) == .unknown(available: []))
    #expect(InputChoice.automatic(remembered: nil).outcome(among: []) == .none)
    #expect(InputChoice.automatic(remembered: "b").outcome(among: []) == .none)
  }
}
