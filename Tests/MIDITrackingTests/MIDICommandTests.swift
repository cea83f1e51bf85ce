// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import HeadTracking
import TestSupport
import Testing

@testable import MIDITracking

/// The built program with a MIDI tracker on a simulated card. Needs Debian's package umockdev.
@Suite(.serialized) struct MIDICommandTests {
  private static let program = ["umockdev-wrapper", "\(ProgramRun.builtProducts)/stillstage"]

  private func environment(_ card: SimulatedCard) -> [String: String?] {
    [
      "UMOCKDEV_DIR": card.folder.path, "XDG_CONFIG_HOME": card.folder.file("config"),
      "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent",
    ]
  }

  @Test("A Supperware that is worn askew is listed, calibrated and watched within 0.2 degrees")
  func calibrates() throws {
    let card = try SimulatedCard(hasSequencer: false)
    let device = try RawDevice(card.node)
    let list = try ProgramRun.of(
      Self.program[0], [Self.program[1], "trackers"], environment: environment(card))
    #expect(list.output.contains("S1  Head Tracker  Supperware  usb  ready"), "\(list)")
    let askew = YawPitchRoll(yaw: 25, pitch: -15, roll: 170).quaternion
    var isOn = false
    var commands: [UInt8] = []
    let listener = SimulatedListener(Self.program, environment: environment(card)) { head in
      let new = device.received()
      commands += new
      if new.contains([0x42, 0x00, 0x00, 0x28]) { isOn = true }
      if new.contains([0x42, 0x00, 0x00, 0x40]) { isOn = false }
      if isOn { device.send(SupperwareMessages.quaternion(head * askew)) }
    }
    let (exitCode, lines) = try listener.calibrate("S1")
    #expect(exitCode == 0, "\(lines)")
    #expect(lines.contains { $0.hasSuffix("measured 90.0 degrees") }, "\(lines)")
    _ = waitUntil(seconds: 5) {
      commands += device.received()
      return commands.suffix(7) == Supperware().stopMessages[0].suffix(7)
    }
    #expect(commands.suffix(7) == Supperware().stopMessages[0].suffix(7))
    isOn = false
    try listener.watch("S1", [YawPitchRoll(yaw: 50, pitch: 10, roll: -5), YawPitchRoll(roll: 20)])
  }

  @Test("The program keeps a tracker with a profile sending")
  func keepsAlive() throws {
    let card = try SimulatedCard(hasSequencer: false)
    let device = try RawDevice(card.node)
    let folder = "config/stillstage/tracker-profiles"
    try #require(system("mkdir -p '\(card.folder.file(folder))'") == 0)
    try card.folder.write(
      """
      { "schema": 1, "name": "mine", "link": "midi", "midi": { "port": "Head" },
        "frame": { "sync": "F0 7D", "length": 5 },
        "start": { "bytes": ["F0 7D 01 F7"], "delay": 50 },
        "keepAlive": { "bytes": ["F0 7D 02 F7"], "seconds": 0.05 },
        "signals": { "yaw": { "byte": 2, "type": "i14be", "scale": 0.001 } } }
      """, to: "\(folder)/mine.json")
    let watch = try RunningProgram(
      Self.program + ["trackers", "watch", "S1"], environment: environment(card))
    var found: [UInt8] = []
    #expect(
      waitUntil(seconds: 30) {
        found += device.received()
        return found.count >= 16
      }, "\(watch.lines)")
    #expect(found.prefix(12) == hex("F0 7D 01 F7 F0 7D 02 F7 F0 7D 02 F7")[...])
  }

  // MARK: Libraries

  /// Runs a command for two seconds and returns the names of the libraries that it loads.
  private func libraries(_ command: [String], _ card: SimulatedCard) throws -> Set<String> {
    let folder = TemporaryFolder()
    let words = ["timeout", "-s", "INT", "2"] + Self.program + command
    let run = try ProgramRun.of(
      "env", ["LD_DEBUG=files", "LD_DEBUG_OUTPUT=\(folder.file("log"))"] + words,
      environment: environment(card), timeoutSeconds: 60)
    #expect([0, 124].contains(run.exitCode), "\(run)")
    let text = try folder.names.map {
      String(decoding: try readFile(folder.file($0)), as: UTF8.self)
    }
    let lines = text.joined().split(separator: "\n").filter { $0.contains("generating link map") }
    return Set(
      lines.compactMap { line in
        line.firstRange(of: "file=").map { found in
          String(line[found.upperBound...].prefix { $0 != " " })
        }
      })
  }

  @Test("Only opening a MIDI tracker of the sequencer loads libasound")
  func loadsLibrary() throws {
    let card = try SimulatedCard(hasSequencer: true)
    let none = try libraries(["trackers"], try SimulatedCard(hasSequencer: false))
    let listed = try libraries(["trackers"], card)
    #expect(none == listed && listed.count > 10)
    for command in [["trackers"], ["trackers", "watch", "serial:/dev/null:nvsonic"]] {
      let found = try libraries(command, card)
      #expect(!found.contains { $0.contains("libasound") }, "\(command)")
    }
    let opened = try libraries(["trackers", "watch", "S1"], card)
    #expect(opened.subtracting(listed).allSatisfy { $0.contains("asound") })
    #expect(opened.contains { $0.contains("libasound") })
  }
}
