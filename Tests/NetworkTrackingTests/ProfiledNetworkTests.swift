// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import HeadTracking
import Synchronization
import TestSupport
import Testing

@testable import NetworkTracking

/// Trackers with a profile on the loopback interface.
@Suite(.serialized) struct ProfiledNetworkTests {
  private func settings(_ link: String, _ port: Int) throws -> TrackerSettings {
    let place = link == "tcp" ? "\"host\": \"127.0.0.1\", " : ""
    let text = """
      { "schema": 1, "name": "phone", "link": "\(link)", "\(link)": { \(place)"port": \(port) },
        "frame": { "text": "{yaw} {pitch}", "separator": ";" },
        "signals": { "yaw": { "name": "yaw", "unit": "degrees" },
          "pitch": { "name": "pitch", "unit": "degrees" } } }
      """
    let profile = try #require(ProfileReader.read(Array(text.utf8)).profile)
    var settings = TrackerSettings(profiles: [profile], sensorFolder: "/nonexistent")
    settings.providers = [ProfiledNetworkTrackers(settings)]
    return settings
  }

  private func session(
    _ settings: TrackerSettings, _ selection: TrackerSelection,
    _ record: @escaping @Sendable (TrackerMeasurement) -> Void
  ) -> TrackerSession {
    TrackerSession(
      selection, feeding: HeadPoseSource(), settings: settings, record: record)
  }

  private func expect(_ head: Quaternion?, yaw: Double, pitch: Double) throws {
    let angles = YawPitchRoll(try #require(head))
    #expect(
      abs(angles.yaw - yaw) < 0.2 && abs(angles.pitch - pitch) < 0.2 && abs(angles.roll) < 0.2)
  }

  @Test("A TCP tracker is listed, watched when named, lost, and found again")
  func stream() throws {
    let server = try LoopbackServer()
    let settings = try settings("tcp", server.port)
    let listed = TrackerList.current(settings).trackers.filter { $0.bus == .network }
    #expect(listed.map(\.name) == ["phone"])
    #expect(listed.map(\.path) == ["tcp:127.0.0.1:\(server.port)"])
    #expect(server.connections == 0)
    let heads = Mutex<[Quaternion]>([])
    let session = session(settings, .id("phone")) { measurement in
      heads.withLock { $0.append(measurement.head.headToWorld) }
    }
    session.start()
    defer { session.stop() }
    for round in 1...2 {
      #expect(waitUntil(seconds: 20) { server.connections == round })
      heads.withLock { $0 = [] }
      for text in ["rest; 30 ", "-10;31 -10;32 -1", "0;"] {
        server.send(Array(text.utf8))
        usleep(5000)
      }
      #expect(waitUntil(seconds: 10) { heads.withLock { $0.count } == 3 })
      try expect(heads.withLock { $0.last }, yaw: 32, pitch: -10)
      server.hangUp()
      #expect(waitUntil(seconds: 10) { session.tracker == nil || server.connections > round })
    }
  }

  @Test("A network tracker is never chosen automatically, and a refusal waits two seconds")
  func caution() throws {
    let port = try LoopbackServer().port
    let settings = try settings("tcp", port)
    let automatic = session(settings, .automatic) { _ in }
    automatic.start()
    #expect(!waitUntil(seconds: 1) { automatic.tracker != nil })
    automatic.stop()
    let provider = ProfiledNetworkTrackers(settings)
    let tracker = provider.trackers(detailed: false)[0]
    #expect {
      try provider.connect(tracker, isCalibrated: false)
    } throws: {
      "\($0)".contains("phone") && !"\($0)".contains("\n")
    }
    let server = try LoopbackServer(port: port)
    #expect(throws: HeadTrackingError.self) { try provider.connect(tracker, isCalibrated: false) }
    #expect(server.connections == 0)
  }

  @Test("A UDP tracker is watched: several frames in a datagram, and frames over two")
  func datagrams() throws {
    let sender = try LoopbackSender()
    let heads = Mutex<[Quaternion]>([])
    let events = Mutex<[TrackerEvent]>([])
    let session = TrackerSession(
      .id("phone"), feeding: HeadPoseSource(), settings: try settings("udp", sender.port),
      onEvent: { event in events.withLock { $0.append(event) } },
      record: { measurement in heads.withLock { $0.append(measurement.head.headToWorld) } })
    session.start()
    defer { session.stop() }
    func failures() -> [String] {
      events.withLock { $0 }.compactMap { event in
        if case .failed(let error) = event { error.description } else { nil }
      }
    }
    // Before the first datagram, there is no tracker. Then it is lost by silence and found again.
    for round in 1...2 {
      #expect(waitUntil(seconds: 20) { failures().count == round })
      #expect(session.tracker == nil)
      #expect(
        waitUntil(seconds: 20) {
          sender.send(Array("0 0;".utf8))
          return session.tracker != nil
        })
      usleep(100_000)
      heads.withLock { $0 = [] }
      for text in [";10 20;11 20;12", " 20;"] { sender.send(Array(text.utf8)) }
      #expect(waitUntil(seconds: 10) { heads.withLock { $0.count } == 3 })
      try expect(heads.withLock { $0.last }, yaw: 12, pitch: 20)
      #expect(waitUntil(seconds: 10) { session.tracker == nil })
    }
    let reason = try #require(failures().first)
    #expect(reason.contains("nothing is arriving at udp:loopback:\(sender.port)"))
    #expect(!reason.contains("\n"))
  }
}
