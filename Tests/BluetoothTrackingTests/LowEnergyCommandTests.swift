// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import HeadTracking
import TestSupport
import Testing

@testable import BluetoothTracking

/// The built program with Bluetooth LE trackers on a private D-Bus with a simulated BlueZ.
@Suite(.serialized) struct LowEnergyCommandTests {
  private static let program = "\(ProgramRun.builtProducts)/stillstage"

  private var nx: FakeLowEnergy.Device {
    FakeLowEnergy.Device(
      1, "Nx Tracker 2",
      ["0000a011-5761-7665-7341-7564696f4c74", "0000a015-5761-7665-7341-7564696f4c74"])
  }

  @Test("A Waves Nx that is worn askew is listed, calibrated and watched within 0.2 degrees")
  func calibrates() throws {
    let folder = TemporaryFolder()
    // Longer than a connected tracker may be silent.
    var slow = nx
    slow.connectSeconds = 6
    let bluez = try FakeLowEnergy(in: folder, devices: [slow])
    let environment = [
      "DBUS_SYSTEM_BUS_ADDRESS": bluez.address, "XDG_CONFIG_HOME": folder.file("config"),
    ]
    let list = try ProgramRun.of(Self.program, ["trackers"], environment: environment)
    #expect(list.output.contains("Nx Tracker 2  Waves Nx  bluetooth  ready when in range"))
    let askew = YawPitchRoll(yaw: 25, pitch: -15, roll: 170).quaternion
    let listener = SimulatedListener([Self.program], environment: environment) {
      bluez.notify(0, LowEnergyDecoderTests.nx($0 * askew))
    }
    let (exitCode, lines) = try listener.calibrate("00:00:00:00:00:01")
    #expect(exitCode == 0, "\(lines)")
    #expect(lines.contains { $0.hasSuffix("measured 90.0 degrees") }, "\(lines)")
    #expect(waitUntil(seconds: 5) { bluez.change { $0.disconnections } == 1 })
    #expect(bluez.change { $0.writes.map(\.bytes.last) } == [1, 0])
    try listener.watch(
      "nx tracker", [YawPitchRoll(yaw: 50, pitch: 10, roll: -5), YawPitchRoll(roll: 20)])
  }

  @Test("A tracker that BlueZ has forgotten is searched for and watched; SIGINT ends the search")
  func searches() throws {
    let folder = TemporaryFolder()
    var unknown = nx
    (unknown.isKnown, unknown.answers) = (false, false)
    let bluez = try FakeLowEnergy(in: folder, devices: [unknown])
    let environment: [String: String?] = [
      "DBUS_SYSTEM_BUS_ADDRESS": bluez.address, "XDG_CONFIG_HOME": folder.file("config"),
    ]
    let command = [Self.program, "trackers", "watch", unknown.address]
    let interrupted = try RunningProgram(command, environment: environment)
    _ = try interrupted.line(with: "searching for 00:00:00:00:00:01 over Bluetooth")
    kill(interrupted.pid, SIGINT)
    #expect(interrupted.wait(seconds: 2) == 130)

    let program = try RunningProgram(command, environment: environment)
    _ = try program.line(with: "searching for")
    bluez.change(device: 0) { ($0.isKnown, $0.answers) = (true, true) }
    _ = try program.line(with: "is connected")
    kill(program.pid, SIGINT)
    #expect(program.wait(seconds: 5) == 130)
  }

  @Test("`play` searches for a tracker that is named by its address")
  func playSearches() throws {
    let folder = TemporaryFolder()
    var unknown = nx
    unknown.isKnown = false
    let bluez = try FakeLowEnergy(in: folder, devices: [unknown])
    let environment: [String: String?] = [
      "DBUS_SYSTEM_BUS_ADDRESS": bluez.address, "XDG_CONFIG_HOME": folder.file("config"),
      "PULSE_SERVER": "unix:/nonexistent", "PIPEWIRE_RUNTIME_DIR": "/nonexistent",
    ]
    let program = try RunningProgram(
      [Self.program, "play", "/nonexistent.wav", "--tracker", unknown.address],
      environment: environment)
    _ = program.wait(seconds: 10)
    let text = program.lines.map(\.text)
    #expect(text.contains { $0.contains("searching for \(unknown.address)") }, "\(text)")
    #expect(!text.contains { $0.contains("no head tracker matches") }, "\(text)")
  }
}
