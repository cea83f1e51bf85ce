// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Geometry
import Glibc
import HeadTracking
import Synchronization
import TestSupport
import Testing

/// Trackers that exist only here and send a still head.
private struct StillTrackers: TrackerProvider {
  let serials: [String]

  func trackers(detailed: Bool) -> [TrackerDescription] {
    serials.map { serial in
      TrackerDescription(
        path: "test:\(serial)", vendorID: 1, productID: 2, serial: serial, manufacturer: "",
        product: "Still \(serial)", bus: .bluetooth, protocolDescription: "", kind: .head,
        access: .ready, id: serial)
    }
  }

  func connect(
    _ tracker: TrackerDescription, isCalibrated: Bool
  ) throws(HeadTrackingError) -> any TrackerConnection { Connection() }

  private struct Connection: TrackerConnection {
    var keepsReference: Bool { true }
    mutating func restart() {}
    mutating func close() {}
    mutating func listen(timeoutMilliseconds: Int) -> TrackerNews {
      usleep(10_000)
      return .readings(
        [.head(HeadSample(time: monotonic_nanoseconds(), headToWorld: .identity)), .worn(false)],
        rejected: 0)
    }
  }
}

@Suite struct TrackerChoiceTests {
  private final class Log: Sendable {
    let events = Mutex<[TrackerEvent]>([])
  }

  /// Returns the events of a session that chooses a tracker by itself, until one connects.
  private func events(output: String?) -> [TrackerEvent] {
    var settings = TrackerSettings(sensorFolder: "/nonexistent")
    settings.providers = [StillTrackers(serials: ["AA:AA:AA:AA:AA:01", "AA:AA:AA:AA:AA:02"])]
    settings.outputAddress = { output }
    let log = Log()
    let session = TrackerSession(
      .automatic, feeding: HeadPoseSource(), settings: settings,
      onEvent: { event in log.events.withLock { $0.append(event) } })
    session.start()
    _ = waitUntil(seconds: 5) { log.events.withLock { $0.contains(.worn(false)) } }
    session.stop()
    return log.events.withLock { $0 }
  }

  @Test(
    "Of several head trackers, the one in the output's headphones is chosen, or else the first",
    arguments: [
      (nil, "AA:AA:AA:AA:AA:01"), ("aa:aa:aa:aa:aa:02", "AA:AA:AA:AA:AA:02"),
      ("BB:BB:BB:BB:BB:BB", "AA:AA:AA:AA:AA:01"),
    ] as [(String?, String)])
  func chooses(output: String?, serial: String) throws {
    let events = events(output: output)
    guard
      case .connected(let tracker)? = events.first(where: { event in
        if case .connected = event { true } else { false }
      })
    else {
      Issue.record("nothing connected")
      return
    }
    #expect(tracker.serial == serial)
    #expect(events.contains(.worn(false)))
  }
}
