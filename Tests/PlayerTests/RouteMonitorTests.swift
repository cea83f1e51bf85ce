// SPDX-License-Identifier: Apache-2.0

import Glibc
import PulseAudio
import SoundServer
import Synchronization
import TestSupport
import Testing
import UserFiles

@testable import CommandSupport
@testable import Laboratory
@testable import Playback
@testable import Rendering
@testable import SoundSources

/// The notifications to other programs about routes.
@Suite(.serialized) struct RouteMonitorTests {
  private final class EventLog: Sendable {
    let events = Mutex<[RouteMonitor.Event]>([])

    var offers: [String?] {
      events.withLock { events in
        events.compactMap { event -> String?? in
          switch event {
          case .routesChanged: nil
          case .spatialOffered(let route): .some(route.facts.sink)
          case .spatialWithdrawn: .some(nil)
          }
        }
      }
    }
  }

  private func load(_ form: String, on server: PrivatePulseServer) throws {
    try server.pactl([
      "load-module", "module-null-sink", "sink_name=\(form)", "norewinds=1",
      "sink_properties=device.form_factor=\(form)",
    ])
  }

  @Test func routesAndTheirChangesAreReported() throws {
    try PrivatePulseServer.withServer { server in
      try load("headphone", on: server)
      try server.pactl(["set-default-sink", "headphone"])
      let log = EventLog()
      let monitor = try RouteMonitor(serverAddress: server.address) { event in
        log.events.withLock { $0.append(event) }
      }
      defer { monitor.stop() }
      #expect(waitUntil(seconds: 5) { monitor.routes.count == 2 })
      #expect(monitor.routes.map(\.isSpatial) == [true, true])
      #expect(log.offers.isEmpty)
      monitor.declareMultichannelContent(true)
      #expect(log.offers == ["headphone"])

      try load("speaker", on: server)
      #expect(waitUntil(seconds: 5) { monitor.routes.count == 3 })
      #expect(monitor.routes.last?.isSpatial == false)
      let start = monotonicNow()
      try server.pactl(["set-default-sink", "speaker"])
      #expect(waitUntil(seconds: 5) { log.offers == ["headphone", nil] })
      print("default changed: reported after \(Double(monotonicNow() - start) * 1e-6) ms")

      var policy = RoutePolicy()
      policy.sinks["speaker"] = .headphones
      monitor.policy = policy
      #expect(log.offers == ["headphone", nil, "speaker"])
      policy.sinks["speaker"] = .off
      monitor.policy = policy
      #expect(log.offers == ["headphone", nil, "speaker", nil])
      let speaker = try #require(monitor.routes.last)
      #expect(!speaker.isAllowed && speaker.decision.reason == .sinkOff)
      let stereo = monitor.decision(for: Programme(layout: .stereo), on: "headphone")
      #expect(stereo?.treatment == .binaural)
      #expect(monitor.decision(for: Programme(layout: .stereo), on: "nowhere") == nil)

      try server.pactl(["set-default-sink", "headphone"])
      #expect(waitUntil(seconds: 5) { log.offers.last == "headphone" })
      monitor.declareMultichannelContent(false)
      #expect(log.offers.last == .some(nil))

      server.kill()
      #expect(waitUntil(seconds: 5) { monitor.routes.isEmpty })
      try server.restart()
      #expect(waitUntil(seconds: 5) { monitor.routes.map(\.facts.sink) == ["ears"] })
    }
  }

  @Test func aHandlerMayUseTheMonitor() throws {
    try PrivatePulseServer.withServer { server in
      let counts = Mutex<[Int]>([])
      let box = Mutex<RouteMonitor?>(nil)
      let monitor = try RouteMonitor(serverAddress: server.address) { _ in
        guard let monitor = box.withLock({ $0 }) else { return }
        let count = monitor.routes.count
        counts.withLock { $0.append(count) }
        monitor.declareMultichannelContent(true)
      }
      box.withLock { $0 = monitor }
      _ = try server.loadSink("other")
      #expect(waitUntil(seconds: 5) { counts.withLock { $0.contains(2) } })
      box.withLock { $0 = nil }
      monitor.stop()
    }
  }

  @Test func withoutAServerThereAreNoRoutes() throws {
    let monitor = try RouteMonitor(serverAddress: "unix:/tmp/stillstage-no-server") { _ in }
    usleep(200_000)
    #expect(monitor.routes.isEmpty)
    monitor.stop()
  }

  @Test func userConfigurationSetsThePolicy() throws {
    let folder = TemporaryFolder()
    let user = UserFolder(path: folder.path)
    #expect(try RoutePolicy.ofUser(in: user) == RoutePolicy())
    try folder.write(
      #"{"spatialize": "multichannel", "route": "speakers", "gain": -3, "sinks": {"a": "off"}}"#,
      to: "config.json")
    let policy = try RoutePolicy.ofUser(in: user)
    #expect(policy.spatialization == .multichannel)
    #expect(policy.choice == .speakers && policy.sinks == ["a": .off])
    try folder.write(#"{"sinks": {"a": "loud"}}"#, to: "config.json")
    #expect(throws: UserFileError.self) { try RoutePolicy.ofUser(in: user) }
    try folder.write(#"{"sinks": 3}"#, to: "config.json")
    #expect(throws: UserFileError.self) { try RoutePolicy.ofUser(in: user) }
    // The list of sinks does not disturb the reading of options.
    try folder.write(#"{"sinks": {"a": "auto"}, "gain": -3}"#, to: "config.json")
    #expect(throws: Never.self) { _ = try ConfigFile.texts(in: user) }
  }

  private func monotonicNow() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
