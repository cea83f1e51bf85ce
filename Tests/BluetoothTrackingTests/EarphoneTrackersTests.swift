// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import HeadTracking
import TestSupport
import Testing

@testable import BluetoothTracking

@Suite(.serialized) struct EarphoneTrackersTests {
  private let galaxy = BluetoothDevice(
    path: "/org/bluez/hci0/dev_00_11_22_33_44_55", address: "00:11:22:33:44:55",
    name: "Galaxy Buds2 Pro (ABCD)", isConnected: true,
    services: ["2E73A4AD-332D-41FC-90E2-16BEF06523F2"],
    modalias: "bluetooth:v0075p0102d0100")
  private let airPods = BluetoothDevice(
    path: "/org/bluez/hci0/dev_AA_BB_CC_DD_EE_FF", address: "AA:BB:CC:DD:EE:FF",
    name: "My AirPods", isConnected: true, services: ["74ec2172-0bad-4d01-8f77-997b2be0722a"],
    modalias: "bluetooth:v004Cp2014d0100")
  private let speaker = BluetoothDevice(
    path: "/org/bluez/hci0/dev_00_00_00_00_00_01", address: "00:00:00:00:00:01", name: "Speaker",
    isConnected: true, services: ["0000110b-0000-1000-8000-00805f9b34fb"])

  private func trackers(_ bluez: FakeBlueZ) -> EarphoneTrackers {
    var settings = EarphoneTrackers.Settings()
    settings.busAddress = bluez.address
    return EarphoneTrackers(settings)
  }

  @Test("Connected earphones are listed with name, address and model; other devices are not")
  func lists() throws {
    var away = airPods
    (away.address, away.isConnected) = ("AA:BB:CC:DD:EE:00", false)
    away.path = "/org/bluez/hci0/dev_AA_BB_CC_DD_EE_00"
    let folder = TemporaryFolder()
    let bluez = try FakeBlueZ(in: folder, devices: [galaxy, airPods, speaker, away])
    var settings = TrackerSettings()
    settings.providers = [trackers(bluez)]
    let found = TrackerList.current(settings).trackers.filter { $0.earphones != nil }
    #expect(found.map(\.name) == ["Galaxy Buds2 Pro (ABCD)", "My AirPods"])
    #expect(found.map(\.id) == ["00:11:22:33:44:55", "AA:BB:CC:DD:EE:FF"])
    #expect(found.map(\.earphones?.isUntested) == [true, false])
    #expect(found.map(\.vendorAndProduct) == ["0075:0102", "004c:2014"])
  }

  @Test("Galaxy Buds connect through BlueZ, are attached, deliver poses and are detached")
  func galaxyBuds() throws {
    let folder = TemporaryFolder()
    let bluez = try FakeBlueZ(in: folder, devices: [galaxy])
    let provider = trackers(bluez)
    let tracker = try #require(provider.trackers(detailed: false).first)
    var connection = try provider.connect(tracker, isCalibrated: false)
    let far = try #require(bluez.port())
    #expect(Self.read(far) == hex("fd0400 7c 01 155d dd fd0400 c3 00 0743 dd"))
    let pose = hex("fd0400 c3 02 4563 dd fd0d00 c2 20 0000 0000 9f1b 9f1b 00 8b99 dd")
    _ = pose.withUnsafeBytes { Glibc.write(far, $0.baseAddress, $0.count) }
    guard case .readings(let readings, 0) = connection.listen(timeoutMilliseconds: 1000),
      case .head(let sample)? = readings.first
    else {
      Issue.record("no reading")
      return
    }
    #expect(abs(sample.headToWorld.z - 0.7071) < 1e-4)
    connection.close()
    #expect(Self.read(far) == hex("fd0400 c3 01 2653 dd fd0400 7c 00 344d dd"))
  }

  @Test("A lost link hides the earphones for a second; they return when they are connected")
  func loss() throws {
    let folder = TemporaryFolder()
    let bluez = try FakeBlueZ(in: folder, devices: [galaxy])
    let provider = trackers(bluez)
    let tracker = try #require(provider.trackers(detailed: false).first)
    var connection = try provider.connect(tracker, isCalibrated: false)
    let far = try #require(bluez.port())
    shutdown(far, Int32(SHUT_RDWR))
    var isGone = false
    for _ in 0..<20 where !isGone {
      if case .gone = connection.listen(timeoutMilliseconds: 50) { isGone = true }
    }
    #expect(isGone)
    #expect(provider.trackers(detailed: false).isEmpty)
    #expect(waitUntil(seconds: 5) { !provider.trackers(detailed: false).isEmpty })
    _ = try provider.connect(tracker, isCalibrated: false)
  }

  @Test("A program that holds the profile, and an absent device, give errors that say so")
  func errors() throws {
    let folder = TemporaryFolder()
    let bluez = try FakeBlueZ(in: folder, devices: [galaxy])
    let provider = trackers(bluez)
    let tracker = try #require(provider.trackers(detailed: false).first)
    bluez.refuse("org.bluez.Error.AlreadyExists")
    #expect {
      try provider.connect(tracker, isCalibrated: false)
    } throws: {
      "\($0)".hasSuffix("using the earphones' sensor; close that program")
    }
    var away = galaxy
    away.isConnected = false
    bluez.refuse(nil)
    bluez.set(devices: [away])
    let other = trackers(bluez)
    #expect { try other.connect(tracker, isCalibrated: false) } throws: {
      "\($0)".contains("does not list the earphones as connected")
    }
    var settings = EarphoneTrackers.Settings()
    settings.busAddress = "unix:path=/nonexistent/bus"
    let cutOff = EarphoneTrackers(settings)
    #expect { try cutOff.connect(tracker, isCalibrated: false) } throws: {
      "\($0)".contains("D-Bus") && !"\($0)".contains("does not list the earphones")
    }
  }

  @Test("Without a bus or a Bluetooth service there are no earphones, and one line says why")
  func absent() throws {
    var settings = EarphoneTrackers.Settings()
    settings.busAddress = "unix:path=/nonexistent/bus"
    let provider = EarphoneTrackers(settings)
    #expect(provider.trackers(detailed: true).isEmpty)
    let problem = try #require(provider.problem)
    #expect(problem.contains("D-Bus") && !problem.contains("\n"))
  }

  /// Reads what arrives within a moment.
  private static func read(_ descriptor: Int32) -> [UInt8] {
    var found: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 256)
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while poll(&request, 1, found.isEmpty ? 1000 : 50) > 0 {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      guard count > 0 else { break }
      found += buffer.prefix(count)
    }
    return found
  }
}
