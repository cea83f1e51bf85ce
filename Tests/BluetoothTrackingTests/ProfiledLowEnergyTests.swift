// SPDX-License-Identifier: Apache-2.0

import Geometry
import HeadTracking
import Synchronization
import TestSupport
import Testing

@testable import BluetoothTracking

/// A Bluetooth LE tracker with a profile, on a private D-Bus with a simulated BlueZ.
@Suite(.serialized) struct ProfiledLowEnergyTests {
  private static let text = """
    { "schema": 1, "name": "tilty", "link": "ble",
      "ble": { "name": "Tilty", "service": "0000AA00", "notify": "0000aa01", "write": "0000aa02",
        "acknowledged": false },
      "frame": { "sync": "A5", "length": 10, "checksum": "xor8" },
      "signals": {
        "quaternionW": { "byte": 1, "type": "i16be", "scale": 6.103515625e-5 },
        "quaternionX": { "byte": 3, "type": "i16be", "scale": 6.103515625e-5 },
        "quaternionY": { "byte": 5, "type": "i16be", "scale": 6.103515625e-5 },
        "quaternionZ": { "byte": 7, "type": "i16be", "scale": 6.103515625e-5 } },
      "start": { "bytes": ["01"] }, "stop": { "bytes": ["02"] },
      "keepAlive": { "bytes": ["03"], "seconds": 0.1 } }
    """

  private var device: FakeLowEnergy.Device {
    var device = FakeLowEnergy.Device(
      1, "Tilty 7",
      ["0000aa01-0000-1000-8000-00805f9a34fb", "0000aa02-0000-1000-8000-00805f9a34fb"])
    device.services = ["0000aa00-0000-1000-8000-00805f9a34fb"]
    return device
  }

  private func frame(_ head: Quaternion) -> [UInt8] {
    let numbers = [head.w, head.x, head.y, head.z].flatMap { number -> [UInt8] in
      let bits = UInt16(bitPattern: Int16((number * 16384).rounded()))
      return [UInt8(bits >> 8), UInt8(bits & 255)]
    }
    let body = [0xA5] + numbers
    return body + [body.reduce(0, ^)]
  }

  @Test("It is found, listed, watched, kept alive, captured, lost, and found again")
  func steps() throws {
    let profile = try #require(ProfileReader.read(Array(Self.text.utf8)).profile)
    let folder = TemporaryFolder()
    let bluez = try FakeLowEnergy(in: folder, devices: [device])
    let capture = FrameCapture()
    var settings = TrackerSettings(sensorFolder: "/nonexistent")
    settings.providers = [
      LowEnergyTrackers(profiles: [profile], capture: capture, busAddress: bluez.address)
    ]
    let listed = TrackerList.current(settings).trackers.first { $0.bus == .bluetooth }
    #expect(listed?.name == "Tilty 7" && listed?.protocolDescription == "profile tilty")
    #expect(listed?.isAway == true && listed?.levelsItself == true)
    let heads = Mutex<[Quaternion]>([])
    let session = TrackerSession(
      .id("tilty"), feeding: HeadPoseSource(), settings: settings,
      record: { measurement in heads.withLock { $0.append(measurement.head.headToWorld) } })
    session.start()
    defer { session.stop() }
    let wanted = YawPitchRoll(yaw: 40, pitch: -20, roll: 10).quaternion
    for round in 1...2 {
      #expect(waitUntil(seconds: 20) { session.tracker != nil })
      #expect(
        waitUntil(seconds: 20) { bluez.change { $0.writes.count { $0.bytes == [3] } } >= 2 * round }
      )
      #expect(bluez.change { $0.writes.allSatisfy { $0.type == "command" } })
      heads.withLock { $0 = [] }
      // Two frames in three notifications, with a damaged one between them.
      let bytes = frame(wanted) + [0xA5, 1, 2] + frame(wanted)
      for piece in [bytes.prefix(4), bytes[4..<15], bytes[15...]] {
        #expect(bluez.notify(0, Array(piece)))
      }
      #expect(waitUntil(seconds: 10) { heads.withLock { $0.count } == 2 })
      for head in heads.withLock({ $0 }) {
        #expect(Quaternion.angle(between: head, wanted) * 180 / .pi < 0.2)
      }
      guard round == 1 else { continue }
      bluez.lose(0)
      #expect(waitUntil(seconds: 10) { session.tracker == nil })
      bluez.change(device: 0) { $0.answers = true }
    }
    session.stop()
    #expect(waitUntil(seconds: 10) { bluez.change { $0.writes.last?.bytes } == [2] })
    #expect(bluez.change { $0.writes.first?.bytes } == [1])
    #expect(capture.source == "profile:tilty")
    let packets = capture.take()
    #expect(packets.filter { $0.direction == .received }.count == 6)
    try replay(packets, profile, wanted, in: folder)
  }

  /// Replays the packets, with the profile of the capture.
  private func replay(
    _ packets: [FrameCapture.Frame], _ profile: TrackerProfile, _ wanted: Quaternion,
    in folder: TemporaryFolder
  ) throws {
    let text = FrameFile.heading("profile:tilty") + packets.map(FrameFile.line).joined()
    let path = try folder.write(text, to: "capture.txt")
    #expect(throws: HeadTrackingError.self) { try ReplayTracker(path) }
    let tracker = try ReplayTracker(path, profiles: [profile])
    let description = try #require(tracker.trackers(detailed: false).first)
    #expect(description.protocolDescription == "profile tilty")
    var connection = try tracker.connect(description, isCalibrated: false)
    var heads: [Quaternion] = []
    _ = waitUntil(seconds: 60) {
      switch connection.listen(timeoutMilliseconds: 10) {
      case .gone: return true
      case .nothing: return false
      case .readings(let readings, _):
        for case .head(let sample) in readings { heads.append(sample.headToWorld) }
        return false
      }
    }
    #expect(heads.count == 4)
    #expect(heads.allSatisfy { Quaternion.angle(between: $0, wanted) * 180 / .pi < 0.2 })
  }
}
