// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import HeadTracking
import Synchronization
import TestSupport
import Testing

@testable import BluetoothTracking

/// Bluetooth LE trackers on a private D-Bus with a simulated BlueZ.
@Suite(.serialized) struct LowEnergyTrackersTests {
  private typealias Device = FakeLowEnergy.Device

  private static let nxCharacteristics = [
    "0000A011-5761-7665-7341-7564696F4C74", "0000A015-5761-7665-7341-7564696F4C74",
  ]
  private var nx: Device { Device(1, "Nx Tracker 2", Self.nxCharacteristics) }
  private var dot: Device {
    var device = Device(
      2, "My sensor",
      [
        "15172001-4947-11e9-8646-d663bd873d93", "15172004-4947-11e9-8646-d663bd873d93",
        "15172003-4947-11e9-8646-d663bd873d93",
      ])
    device.services = ["15172000-4947-11e9-8646-d663bd873d93"]
    return device
  }
  private var wit: Device {
    var device = Device(
      3, "WT901BLE67",
      ["0000ffe9-0000-1000-8000-00805f9a34fb", "0000ffe4-0000-1000-8000-00805f9a34fb"])
    device.services = ["0000ffe5-0000-1000-8000-00805f9a34fb"]
    return device
  }
  private var speaker: Device { Device(4, "Speaker", ["0000a015-5761-7665-7341-7564696f4c74"]) }

  private func settings(_ bluez: FakeLowEnergy) -> TrackerSettings {
    var settings = TrackerSettings(sensorFolder: "/nonexistent")
    settings.providers = [LowEnergyTrackers(busAddress: bluez.address)]
    return settings
  }

  // MARK: List

  @Test("Known trackers are listed with name, address and model, connected or not")
  func lists() throws {
    var near = dot
    near.isConnected = true
    let folder = TemporaryFolder()
    let bluez = try FakeLowEnergy(in: folder, devices: [nx, near, wit, speaker])
    let found = LowEnergyTrackers(busAddress: bluez.address).trackers(detailed: false)
    #expect(found.map(\.name) == ["Nx Tracker 2", "My sensor", "WT901BLE67"])
    #expect(found.map(\.protocolDescription) == ["Waves Nx", "Xsens DOT", "WitMotion"])
    #expect(found.map(\.isAway) == [true, false, true])
    #expect(found.map(\.serial) == (1...3).map { "00:00:00:00:00:0\($0)" })
    #expect(found.allSatisfy { $0.bus == .bluetooth && $0.access == .ready })
  }

  @Test("A name is cut at 248 characters; a device without an address is left out")
  func unusualNamesAndAddresses() throws {
    var (long, nameless) = (nx, Device(5, "Nx Tracker 2", Self.nxCharacteristics))
    long.name = "Nx Tracker" + String(repeating: "x", count: 100_000)
    var others: [Device] = []
    for (number, address) in ["", "\n", "00:00:00:00:00:0g", "00:00:00:00:00:00:00"].enumerated() {
      nameless.path = "/org/bluez/hci0/dev_\(number)"
      nameless.address = address
      others.append(nameless)
    }
    let folder = TemporaryFolder()
    let bluez = try FakeLowEnergy(in: folder, devices: [long] + others)
    let found = LowEnergyTrackers(busAddress: bluez.address).trackers(detailed: false)
    #expect(found.map(\.name.count) == [248])
  }

  @Test("The list is asked for again only after a signal")
  func listsAfterSignals() throws {
    var hidden = wit
    hidden.isKnown = false
    let folder = TemporaryFolder()
    let bluez = try FakeLowEnergy(in: folder, devices: [nx, hidden])
    let provider = LowEnergyTrackers(busAddress: bluez.address)
    for _ in 0..<20 { #expect(provider.trackers(detailed: false).count == 1) }
    #expect(bluez.change { $0.listings } == 1)
    bluez.change(device: 1) { $0.isKnown = true }
    #expect(waitUntil(seconds: 5) { provider.trackers(detailed: false).count == 2 })
    #expect(bluez.change { $0.listings } == 2)
  }

  @Test("A search finds new devices, and says why if it is not possible")
  func scans() throws {
    var hidden = nx
    hidden.isKnown = false
    let folder = TemporaryFolder()
    let bluez = try FakeLowEnergy(in: folder, devices: [hidden])
    let provider = LowEnergyTrackers(busAddress: bluez.address)
    #expect(provider.trackers(detailed: false).isEmpty)
    bluez.change { $0.isPowered = false }
    let off = LowEnergyScan.run(seconds: 0.1, busAddress: bluez.address) { false }
    #expect(off == "Bluetooth is off; switch it on")
    bluez.change { $0.isPowered = true }
    var wasSearching = false
    let problem = LowEnergyScan.run(seconds: 0.1, busAddress: bluez.address) {
      wasSearching = wasSearching || bluez.change { $0.isSearching }
      return false
    }
    #expect(problem == nil && wasSearching && !bluez.change { $0.isSearching })
    #expect(waitUntil(seconds: 5) { provider.trackers(detailed: false).count == 1 })
    #expect(LowEnergyScan.run(seconds: 60, busAddress: bluez.address) { true } == nil)
    #expect(LowEnergyScan.run(seconds: 1, busAddress: "unix:path=/nonexistent") { false } != nil)
  }

  @Test("Without a bus there are no trackers, and listing stays fast")
  func absent() {
    let provider = LowEnergyTrackers(busAddress: "unix:path=/nonexistent/bus")
    let clock = ContinuousClock()
    let begun = clock.now
    for _ in 0..<100 { #expect(provider.trackers(detailed: false).isEmpty) }
    #expect(clock.now - begun < .seconds(1))
  }

  // MARK: Use

  @Test("Automatic selection passes over trackers without a connection")
  func automatic() throws {
    let folder = TemporaryFolder()
    let bluez = try FakeLowEnergy(in: folder, devices: [nx, dot])
    let events = Events()
    let session = TrackerSession(
      .automatic, feeding: HeadPoseSource(), settings: settings(bluez), onEvent: events.add)
    session.start()
    defer { session.stop() }
    #expect(waitUntil(seconds: 5) { events.all.contains(.waiting) })
    bluez.change(device: 1) { $0.isConnected = true }
    #expect(waitUntil(seconds: 5) { session.tracker?.name == "My sensor" })
    // The tracker was connected before, so it stays connected.
    session.stop()
    #expect(waitUntil(seconds: 5) { bluez.change { $0.writes.count } == 2 })
    #expect(bluez.change { $0.disconnections } == 0)
  }

  @Test("A tracker is found, connected, started, watched, lost, found again and stopped")
  func steps() throws {
    let folder = TemporaryFolder()
    let bluez = try FakeLowEnergy(in: folder, devices: [nx])
    let events = Events()
    let source = HeadPoseSource()
    let measured = Mutex<[HeadSample]>([])
    let session = TrackerSession(
      .id("nx tracker"), feeding: source, settings: settings(bluez), onEvent: events.add,
      record: { measurement in measured.withLock { $0.append(measurement.head) } })
    session.start()
    defer { session.stop() }
    #expect(waitUntil(seconds: 5) { session.tracker != nil })
    let control = nx.characteristic(0)
    let start = FakeLowEnergy.Write(
      characteristic: control, bytes: [100, 0, 0, 0, 1], type: "request")
    #expect(bluez.change { $0.writes } == [start])

    var generator = SeededGenerator(7)
    for _ in 0..<30 {
      let truth = YawPitchRoll(
        yaw: .random(in: -170...170, using: &generator),
        pitch: .random(in: -60...60, using: &generator),
        roll: .random(in: -30...30, using: &generator)
      ).quaternion
      measured.withLock { $0 = [] }
      #expect(bluez.notify(0, LowEnergyDecoderTests.nx(truth)))
      #expect(waitUntil(seconds: 5) { measured.withLock { !$0.isEmpty } })
      let found = try #require(measured.withLock { $0.first })
      #expect(Quaternion.angle(between: found.headToWorld, truth) * degreesPerRadian < 0.02)
    }

    bluez.lose(0)
    #expect(waitUntil(seconds: 5) { events.all.contains { $0.isLost } })
    #expect(waitUntil(seconds: 5) { bluez.change { $0.isSearching } })
    let attempts = bluez.change { $0.attempts }
    bluez.change(device: 0) { $0.answers = true }
    #expect(waitUntil(seconds: 12) { session.tracker != nil })
    #expect(bluez.change { $0.attempts } == attempts + 1)
    #expect(bluez.change { $0.writes } == [start, start])
    #expect(bluez.notify(0, LowEnergyDecoderTests.nx(.identity)))
    session.stop()
    #expect(waitUntil(seconds: 5) { bluez.change { $0.disconnections } > 0 })
    #expect(bluez.change { $0.writes }.last?.bytes == [100, 0, 0, 0, 0])
  }

  @Test("Raw notifications give the pose of a head at rest")
  func rawNotifications() throws {
    let folder = TemporaryFolder()
    let bluez = try FakeLowEnergy(in: folder, devices: [wit])
    let measured = Mutex<[HeadSample]>([])
    let session = TrackerSession(
      .id("WT901"), feeding: HeadPoseSource(), settings: settings(bluez),
      record: { measurement in measured.withLock { $0.append(measurement.head) } })
    session.start()
    defer { session.stop() }
    #expect(waitUntil(seconds: 5) { session.tracker != nil })
    #expect(bluez.change { $0.writes.map(\.type) } == ["command", "command"])
    for _ in 0..<150 {
      // Two samples in a notification.
      bluez.notify(0, Self.rested + Self.rested)
      usleep(10_000)
    }
    let found = measured.withLock { $0 }
    #expect(found.count > 100)
    let last = YawPitchRoll(try #require(found.last).headToWorld)
    #expect(abs(last.pitch - 30) < 0.2 && abs(last.roll) < 0.2 && abs(last.yaw) < 0.2)
    #expect(zip(found, found.dropFirst()).allSatisfy { $0.time < $1.time })
  }

  /// A head at rest, 30 degrees nose up: the sensor's x is right, its y is front.
  private static let rested = LowEnergyDecoderTests.wit(
    force: SIMD3(0, 0.5, 0.8660254), rate: .zero)

  @Test("A tracker that was named or connected is searched for while BlueZ does not know it")
  func searches() throws {
    let folder = TemporaryFolder()
    var unknown = nx
    unknown.isKnown = false
    let bluez = try FakeLowEnergy(in: folder, devices: [unknown])
    func isSearching() -> Bool { bluez.change { $0.isSearching } }
    let unnamed = LowEnergyTrackers(busAddress: bluez.address)
    let other = LowEnergyTrackers(wanted: "uevent:1", busAddress: bluez.address)
    #expect(unnamed.trackers(detailed: true).isEmpty && other.trackers(detailed: true).isEmpty)
    #expect(!isSearching())

    let provider = LowEnergyTrackers(wanted: unknown.address, busAddress: bluez.address)
    #expect(provider.trackers(detailed: true).isEmpty)
    #expect(isSearching())
    let tracker = try #require(provider.trackers(detailed: true).first)
    var connection = try unnamed.connect(tracker, isCalibrated: false)
    connection.close()
    bluez.change { $0.devices[0].isKnown = false }
    #expect(unnamed.trackers(detailed: true).isEmpty)
    #expect(unnamed.trackers(detailed: true).count == 1)
  }

  @Test("No search is started while Bluetooth is off")
  func searchesNotWhenOff() throws {
    let folder = TemporaryFolder()
    var unknown = nx
    unknown.isKnown = false
    let bluez = try FakeLowEnergy(in: folder, devices: [unknown])
    bluez.change { $0.isPowered = false }
    let provider = LowEnergyTrackers(wanted: unknown.address, busAddress: bluez.address)
    for _ in 0..<3 { #expect(provider.trackers(detailed: true).isEmpty) }
    #expect(!bluez.change { $0.isSearching })
  }

  @Test("Three poses of a Waves Nx that is worn askew give its mounting")
  func calibrates() throws {
    let folder = TemporaryFolder()
    let bluez = try FakeLowEnergy(in: folder, devices: [nx])
    let provider = LowEnergyTrackers(busAddress: bluez.address)
    let tracker = try #require(provider.trackers(detailed: false).first)
    var connection = try provider.connect(tracker, isCalibrated: true)
    let askew = YawPitchRoll(yaw: 25, pitch: -15, roll: 170).quaternion
    let requested = [
      Quaternion.identity, YawPitchRoll(yaw: 0, pitch: 35, roll: 0).quaternion,
      YawPitchRoll(yaw: 90, pitch: 0, roll: 0).quaternion,
    ]
    var delivered: [Quaternion] = []
    for pose in requested + [YawPitchRoll(yaw: 50, pitch: 10, roll: -5).quaternion] {
      bluez.notify(0, LowEnergyDecoderTests.nx(pose * askew))
      guard case .readings(let readings, 0) = connection.listen(timeoutMilliseconds: 2000),
        case .head(let sample)? = readings.first
      else {
        Issue.record("no reading")
        return
      }
      delivered.append(sample.headToWorld)
    }
    let finding = try MountingFinding(ahead: delivered[0], up: delivered[1], left: delivered[2])
    let relative =
      finding.mounting.headToWorld(delivered[0]).conjugate
      * finding.mounting.headToWorld(delivered[3])
    let truth = YawPitchRoll(yaw: 50, pitch: 10, roll: -5).quaternion
    #expect(Quaternion.angle(between: relative, truth) * degreesPerRadian < 0.2)
    connection.close()
  }

  @Test("A tracker that cannot be used gives one line that says why and what to do")
  func errors() throws {
    let folder = TemporaryFolder()
    let bluez = try FakeLowEnergy(in: folder, devices: [nx])
    func failure(_ change: (inout sending FakeLowEnergy.State) -> Void) throws -> String {
      bluez.change {
        $0.devices[0] = nx
        ($0.isPowered, $0.refusal) = (true, nil)
        change(&$0)
      }
      let provider = LowEnergyTrackers(busAddress: bluez.address)
      let tracker = try #require(provider.trackers(detailed: false).first)
      do throws(HeadTrackingError) {
        _ = try provider.connect(tracker, isCalibrated: false)
        return ""
      } catch {
        // A failed tracker is not tried again at once.
        #expect(throws: error) { try provider.connect(tracker, isCalibrated: false) }
        return error.description
      }
    }
    let begin = "cannot use the head tracking of Nx Tracker 2: "
    #expect(try failure { $0.isPowered = false } == begin + "Bluetooth is off; switch it on")
    #expect(try failure { $0.devices[0].answers = false }.hasSuffix("and bring it closer"))
    #expect(try failure { $0.devices[0].characteristics = [] }.contains("lacks a GATT"))
    let held = try failure { $0.refusal = "org.bluez.Error.NotPermitted" }
    #expect(held.hasSuffix("close that program"))
    // After each failure the program leaves the device as it was.
    #expect(bluez.change { $0.devices[0].isConnected } == false)
  }
}

/// The events of a session.
private final class Events: Sendable {
  private let state = Mutex<[TrackerEvent]>([])
  var all: [TrackerEvent] { state.withLock { $0 } }
  @Sendable func add(_ event: TrackerEvent) { state.withLock { $0.append(event) } }
}

extension TrackerEvent {
  fileprivate var isLost: Bool { if case .lost = self { true } else { false } }
}
