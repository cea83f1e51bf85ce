// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import TestSupport
import Testing

/// The guide of docs/tracker-profiles.md with the built program: its invented tracker "Tilty" on a
/// pseudo-terminal.
@Suite(.serialized) struct SerialCommandTests {
  private static let program = "\(ProgramRun.builtProducts)/stillstage"
  private static let root =
    #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

  /// The profile in the guide.
  private func profile() throws -> String {
    let page = try ProgramRun.of("cat", ["\(Self.root)/docs/tracker-profiles.md"]).output
    let start = try #require(page.firstRange(of: "```json\n")?.upperBound)
    return String(page[start...].prefix { $0 != "`" })
  }

  private func frame(_ yaw: Double, _ pitch: Double, _ roll: Double) -> [UInt8] {
    frame(YawPitchRoll(yaw: yaw, pitch: pitch, roll: roll).quaternion)
  }

  private func frame(_ q: Quaternion) -> [UInt8] {
    // The sensor's x axis points to the right and its y axis to the front.
    let numbers = [q.w, -q.y, q.x, q.z].flatMap { number -> [UInt8] in
      let bits = UInt16(bitPattern: Int16((number * 16384).rounded()))
      return [UInt8(bits & 255), UInt8(bits >> 8)]
    }
    let body = [0xA5, 0x5A] + numbers
    return body + [body.reduce(0, &+)]
  }

  @Test("A profile is checked with one line for each error")
  func check() throws {
    let folder = TemporaryFolder()
    let good = try folder.write(try profile(), to: "tilty.json")
    let valid = try ProgramRun.of(Self.program, ["trackers", "check", good])
    #expect(valid.exitCode == 0 && valid.errors.isEmpty, "\(valid.errors)")
    #expect(valid.output.contains("valid profile 'tilty', link serial"))
    let text = try profile().replacing("\"sum8\"", with: "\"sum7\"").replacing(
      "\"i16\"", with: "\"i17\"")
    let bad = try folder.write(text, to: "bad.json")
    let invalid = try ProgramRun.of(Self.program, ["trackers", "check", bad])
    #expect(invalid.exitCode == 1 && invalid.output.isEmpty)
    let lines = invalid.errors.split(separator: "\n")
    #expect(lines.count == 5, "\(invalid.errors)")
    #expect(lines.first?.contains("\(bad):7: 'checksum' must be one of") == true)
    #expect((0..<4).allSatisfy { lines.dropFirst()[1 + $0].contains("\(bad):\(9 + $0): ") })
    let none = try ProgramRun.of(Self.program, ["trackers", "check", folder.file("none")])
    #expect(none.exitCode == 1 && none.errors.split(separator: "\n").count == 1)
  }

  @Test("The guide works: recorded without a profile, replayed, watched and found by name")
  func guide() throws {
    let folder = TemporaryFolder()
    let file = try folder.write(try profile(), to: "tilty.json")
    let capture = folder.file("tilty.txt")
    let terminal = try PseudoTerminal()
    let unknown = try RunningProgram(
      [
        Self.program, "trackers", "watch", "serial:\(terminal.path):115200", "--raw", capture,
      ])
    #expect(
      waitUntil(seconds: 60) { (try? unknown.line(with: "is connected", seconds: 0.1)) != nil })
    for step in 0..<60 {
      terminal.send(frame(Double(step), 5, 0))
      usleep(20_000)
    }
    kill(unknown.pid, SIGINT)
    #expect(unknown.wait(seconds: 30) == 130)
    let text = try ProgramRun.of("cat", [capture]).output
    #expect(text.hasPrefix("stillstage-frames 1 profile:unknown\n"))
    #expect(text.split(separator: "\n").count > 10)

    let replay = try RunningProgram(
      [Self.program, "trackers", "watch", "replay:\(capture):\(file)"])
    let isShown = { (program: RunningProgram, yaw: Double, pitch: Double) in
      program.lines.contains { line in
        let numbers = line.text.split(separator: " ").compactMap { Double($0) }
        return numbers.count >= 4 && abs(numbers[1] - yaw) < 3 && abs(numbers[2] - pitch) < 0.2
      }
    }
    // The first yaw is the front.
    #expect(waitUntil(seconds: 60) { isShown(replay, 50, 5) }, "\(replay.lines.map(\.text))")
    kill(replay.pid, SIGINT)
    _ = replay.wait(seconds: 30)

    let watch = try RunningProgram([
      Self.program, "trackers", "watch", "serial:\(terminal.path):\(file)",
    ])
    var sent: [UInt8] = []
    #expect(
      waitUntil(seconds: 60) {
        sent += terminal.received()
        return sent.contains(0x53)
      })
    for _ in 0..<100 {
      terminal.send(frame(0, 20, 0))
      usleep(20_000)
    }
    #expect(waitUntil(seconds: 30) { isShown(watch, 0, 20) }, "\(watch.lines.map(\.text))")
    kill(watch.pid, SIGINT)
    #expect(watch.wait(seconds: 30) == 130)
    #expect(terminal.received().contains(0x58))
  }

  @Test("A tracker that is worn askew is calibrated, and then watched within 0.2 degrees")
  func calibrates() throws {
    let folder = TemporaryFolder()
    let terminal = try PseudoTerminal()
    let id = "serial:\(terminal.path):\(try folder.write(try profile(), to: "tilty.json"))"
    let askew = YawPitchRoll(yaw: -40, pitch: 20, roll: 15).quaternion
    let listener = SimulatedListener(
      [Self.program], environment: ["XDG_CONFIG_HOME": folder.file("config")]
    ) { terminal.send(frame($0 * askew)) }
    let (exitCode, lines) = try listener.calibrate(id)
    #expect(exitCode == 0, "\(lines)")
    #expect(lines.contains { $0.hasSuffix("measured 90.0 degrees") }, "\(lines)")
    try listener.watch(id, [YawPitchRoll(yaw: 50, pitch: 10, roll: -5), YawPitchRoll(roll: 20)])
  }

  @Test("A wrong ID is refused in one line that says what to give")
  func wrongIDs() throws {
    for (id, code, text) in [
      ("serial:/dev/x", 2, "give serial:PATH:PROFILE"), ("serial:/dev/null:no", 2, "nvsonic"),
      ("serial:/dev/null:raw example", 2, "not for a serial port"),
      ("serial:/nonexistent:nvsonic", 1, "no head tracker"),
      ("serial:/dev/null:nvsonic", 1, ""),
    ] {
      let watch = try RunningProgram([Self.program, "trackers", "watch", id])
      if text.isEmpty {
        #expect(throws: Never.self) { try watch.line(with: "it is not a serial port", seconds: 60) }
        kill(watch.pid, SIGINT)
        continue
      }
      #expect(watch.wait(seconds: 60) == Int32(code), "\(id)")
      #expect(watch.lines.count == 1 && watch.lines[0].text.contains(text), "\(watch.lines)")
    }
  }
}
