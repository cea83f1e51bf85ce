// SPDX-License-Identifier: Apache-2.0

import System
import TestSupport
import Testing

@testable import HeadTracking

/// What the reader of profiles says about a file, with the line.
@Suite struct ProfileReaderTests {
  @Test("Every shipped profile is valid, without a remark")
  func shipped() throws {
    let names = try #require(SystemFile.names(in: ProfileFixtures.folder))
    #expect(names.count >= 10)
    for name in names {
      let bytes = try SystemFile.contents("\(ProfileFixtures.folder)/\(name)", limit: 1 << 18)
      let (profile, problems) = ProfileReader.read(bytes)
      #expect(profile != nil && problems == [], "\(name): \(problems)")
    }
  }

  private static let good = """
    "schema": 1, "name": "n", "link": "serial", "frame": { "text": "{a}" }
    """

  @Test(
    "An error names its line",
    arguments: [
      ("{\n\"schema\" 1}", 2, "a colon is expected"), ("", 1, "ends too early"),
      ("{\n\n\"schema\": 1\n", 4, "a comma or }"), ("[]", 1, "must be an object"),
      ("{\"schema\": 1,\n\"name\": 5}", 2, "'name' must be a string"),
      ("{\"schema\": 1, \"name\": \"n\",\n\"link\": \"usb\"}", 2, "one of hid, midi, serial"),
      (
        "{\(good),\n\"signals\": {\n\"yaw\": {\"name\": \"b\"}}}", 2,
        "does not contain '{b}' for yaw"
      ),
      ("{\(good),\n\"signals\": {\n\"jaw\": {\"name\": \"a\"}}}", 3, "'jaw' is unknown"),
      ("{\(good),\n\"axes\": \"x,x,z\",\"signals\":{\"yaw\":{\"name\":\"a\"}}}", 2, "x,x,z"),
      (
        "{\(good),\n\"serial\": {\n\"baud\": 12345},\"signals\":{\"yaw\":{\"name\":\"a\"}}}", 3,
        "supported baud"
      ),
      (
        "{\(good),\n\"start\": {\"bytes\": [\n\"GG\"]},\"signals\":{\"yaw\":{\"name\":\"a\"}}}", 3,
        "hexadecimal bytes"
      ),
      (
        "{\(good),\n\"mount\": [1,1,0,0],\"signals\":{\"yaw\":{\"name\":\"a\"}}}", 2,
        "unit quaternion"
      ),
      ("{\(good),\n\"name\": \"n\",\"signals\":{\"yaw\":{\"name\":\"a\"}}}", 2, "occurs twice"),
    ])
  func errors(text: String, line: Int, reason: String) {
    let (profile, problems) = ProfileReader.read(Array(text.utf8))
    #expect(profile == nil)
    #expect(
      problems.contains { $0.line == line && $0.text.contains(reason) && !$0.isHarmless },
      "\(problems)")
  }

  @Test("No number of harmless problems hides a serious one")
  func manyProblems() {
    let unknown = (0..<150).map { "\"x\($0)\": 1" }.joined(separator: ", ")
    let text = "{\(Self.good), \(unknown), \"signals\": {\"yaw\": {\"name\": \"b\"}}}"
    let (profile, problems) = ProfileReader.read(Array(text.utf8))
    #expect(profile == nil)
    #expect(problems.contains { !$0.isHarmless })
  }

  @Test("A HID tracker cannot have a delay")
  func delay() throws {
    let bytes = try SystemFile.contents(
      "\(ProfileFixtures.folder)/example-joystick.json", limit: 1 << 18)
    let text = String(decoding: bytes, as: UTF8.self)
      .replacing("{", with: "{ \"start\": { \"delay\": 5 },", maxReplacements: 1)
    let (profile, problems) = ProfileReader.read(Array(text.utf8))
    #expect(profile == nil)
    #expect(problems.contains { $0.text.contains("'delay'") }, "\(problems)")
  }

  @Test(
    "Escapes give their characters, and half of a surrogate pair the replacement character",
    arguments: [
      (#"a\u00e9\/\n"#, "a\u{E9}/\n"), (#"\ud83c\udFA7!"#, "\u{1F3A7}!"),
      (#"\ud83c"#, "\u{FFFD}"), (#"\ud83cx"#, "\u{FFFD}x"), (#"\udfa7\ud83c"#, "\u{FFFD}\u{FFFD}"),
      (#"\ud83c\u0041"#, "\u{FFFD}A"), (#"\ud83c\n"#, "\u{FFFD}\n"),
    ])
  func escapes(written: String, meant: String) throws {
    let text = Self.good.replacing("\"n\"", with: "\"\(written)\"")
    let (profile, problems) = ProfileReader.read(
      Array("{ \(text), \"signals\": { \"yaw\": { \"name\": \"a\" } } }".utf8))
    #expect(problems == [])
    #expect(profile?.name == meant)
  }

  @Test(
    "An incomplete escape is an error",
    arguments: [#"\u12"#, #"\u+123"#, #"\u"#, #"\q"#, #"\ud83c\u12"#])
  func wrongEscapes(written: String) {
    let text = Self.good.replacing("\"n\"", with: "\"\(written)\"")
    let (profile, problems) = ProfileReader.read(Array("{ \(text) }".utf8))
    #expect(profile == nil)
    #expect(problems.contains { $0.text.contains("invalid escape") })
  }

  @Test("All errors are reported in the order of their lines; an unknown key is harmless")
  func several() {
    let text = """
      { \(Self.good),
        "kind": "hat",
        "order": "xyz",
        "colour": 3,
        "signals": { "yaw": { "name": "a" } } }
      """
    let (_, problems) = ProfileReader.read(Array(text.utf8))
    #expect(problems.map(\.line) == [2, 3, 4])
    #expect(problems.map(\.isHarmless) == [false, false, true])
    let harmless = "{ \(Self.good), \"colour\": 3, \"signals\": { \"yaw\": { \"name\": \"a\" } } }"
    #expect(ProfileReader.read(Array(harmless.utf8)).profile != nil)
  }

  @Test("Frames that no device could send are refused")
  func frames() {
    for (frame, reason) in [
      (#"{ "sync": "AA", "length": 1 }"#, "length"), (#"{ "length": 9 }"#, "'sync' is missing"),
      (#"{ "sync": "AA", "length": 9, "checksum": "md5" }"#, "one of none, sum8"),
      (
        #"{ "sync": "AA", "length": 9, "checksum": { "type": "sum8", "from": 5, "at": 3 } }"#,
        "from"
      ),
      (#"{ "sync": "AA", "length": 4 }"#, "'byte' of yaw must be from 0 to 2"),
      (#"{ "text": "{a}{b}" }"#, "pattern"),
      (#"{ "text": "{a}", "separator": "ab" }"#, "separator"),
      (#"{ "controllers": true }"#, "only a MIDI"),
      (#"{ "controllers": false }"#, "'controllers' must be true"),
    ] {
      let text = """
        { "schema": 1, "name": "n", "link": "tcp", "tcp": { "host": "127.0.0.1", "port": 5 },
          "frame": \(frame), "signals": { "yaw": { "byte": 3, "type": "i16" } } }
        """
      let (profile, problems) = ProfileReader.read(Array(text.utf8))
      #expect(profile == nil && problems.contains { $0.text.contains(reason) }, "\(problems)")
    }
  }
}
