// SPDX-License-Identifier: Apache-2.0

/// Reads the frames and signals of a tracker profile.
struct ProfileFrames {
  let keys: ProfileKeys
  let problems: ProfileKeys.Problems

  private static let mostKinds = 64
  private static let units: [String: Double] = [
    "degrees": radiansPerDegree, "radians": 1, "g": standardGravity, "gauss": 100,
  ]

  /// The line of the key `frames`; if that key is missing, the line of the key `signals`.
  var line: Int { keys.line(of: keys["frames"] == nil ? "signals" : "frames") }

  // MARK: Framing

  /// Returns the framing for the link with this name; `message` if the profile has no `frame`, nil
  /// if `frame` is invalid. Adds the problems that it finds.
  func framing(_ link: String) -> TrackerProfile.Framing? {
    guard let json = keys["frame"] else { return .message }
    let known = [
      "sync", "length", "checksum", "tail", "text", "separator", "controllers", "gap",
    ]
    guard let frame = ProfileKeys(json, "frame", known: known, problems) else { return nil }
    if frame["controllers"] != nil {
      guard let hasControllers = frame.flag("controllers") else { return nil }
      guard hasControllers else {
        let line = frame.line(of: "controllers")
        problems.add(
          "'controllers' must be true; omit it if the frames are not MIDI controller messages",
          line: line)
        return nil
      }
      return .controllers(gapMilliseconds: frame.number("gap") ?? 1)
    }
    if frame["text"] != nil || frame["separator"] != nil {
      // Without `separator`, a line feed separates the frames on serial and TCP links; on other
      // links, each message is one frame.
      if frame["separator"] == nil, link != "serial", link != "tcp" { return .message }
      guard let separator = frame["separator"] == nil ? "\n" : frame.text("separator") else {
        return nil
      }
      guard separator.utf8.count == 1, let byte = separator.utf8.first else {
        problems.add("'separator' must be one ASCII character", line: frame.line(of: "separator"))
        return nil
      }
      return .text(separator: byte)
    }
    guard let sync = frame.required("sync", frame.bytes),
      let length = frame.required("length", { frame.whole($0, 1...TrackerProfile.longestFrame) })
    else { return nil }
    return .binary(binary(frame, sync, length))
  }

  private func binary(
    _ frame: ProfileKeys, _ sync: [UInt8], _ length: Int
  ) -> TrackerProfile.BinaryFraming {
    typealias Checksum = TrackerProfile.BinaryFraming.Checksum
    let words = Checksum.allCases.map(\.rawValue)
    let tail = frame.bytes("tail") ?? []
    guard case .object = frame["checksum"]?.value, let json = frame["checksum"] else {
      let checksum = frame.word("checksum", words).flatMap(Checksum.init) ?? .none
      return .init(sync: sync, length: length, checksum: checksum, tail: tail)
    }
    let names = ["type", "from", "to", "at"]
    let sum = ProfileKeys(json, "checksum", known: names, problems)
    let type = sum?.required("type") { sum?.word($0, words) }.flatMap(Checksum.init) ?? .none
    let at = sum?.whole("at", 0...length) ?? max(0, length - tail.count - type.size)
    let from = sum?.whole("from", 0...length) ?? 0
    let to = sum?.whole("to", 0...length) ?? at
    guard from <= to else {
      problems.add("'from' must not be after 'to', which defaults to 'at'", line: json.line)
      return .init(sync: sync, length: length)
    }
    return .init(
      sync: sync, length: length, checksum: type, covered: from..<to, checksumOffset: at,
      tail: tail)
  }

  // MARK: Kinds of frames

  /// Returns the valid kinds of frames and adds the problems that it finds. Returns nil if `frames`
  /// has too many entries. Without `frames`, returns nil if `signals` is missing or not an object.
  func kinds() -> [TrackerProfile.FrameKind]? {
    let pattern = keys["frame"].flatMap { frame -> LocatedJSON? in
      guard case .object(let members) = frame.value else { return nil }
      return members.first { $0.name == "text" }?.value
    }.flatMap(pattern)
    guard keys["frames"] != nil else {
      guard keys["signals"] != nil else {
        problems.add("'signals' is missing", line: keys.line)
        return nil
      }
      return kind(keys, pattern).map { [$0] }
    }
    if keys["signals"] != nil {
      problems.add("give either 'signals' or 'frames', not both", line: keys.line(of: "signals"))
    }
    let items = keys.list("frames")
    guard items.count <= Self.mostKinds else {
      problems.add("'frames' has more than \(Self.mostKinds) entries", line: line)
      return nil
    }
    return items.compactMap { item in
      ProfileKeys(item, "frames", known: ["when", "text", "signals"], problems).flatMap {
        kind($0, $0["text"].flatMap(self.pattern) ?? pattern)
      }
    }
  }

  private func pattern(_ json: LocatedJSON) -> TextPattern? {
    if case .string(let text) = json.value, let pattern = TextPattern(text) { return pattern }
    problems.add(
      "'text' must be a pattern of different names in braces, separated by text or blanks, such "
        + "as \"{w},{x},{y},{z}\"", line: json.line)
    return nil
  }

  private func kind(_ keys: ProfileKeys, _ pattern: TextPattern?) -> TrackerProfile.FrameKind? {
    guard let json = keys["signals"] else {
      problems.add("'signals' is missing", line: keys.line)
      return nil
    }
    guard let signals = ProfileKeys(json, "signals", known: [], problems) else { return nil }
    var numbers: [TrackerProfile.Signal: TrackerProfile.Number] = [:]
    for member in signals.members {
      guard let signal = TrackerProfile.Signal(rawValue: member.name) else {
        problems.add(
          "the signal '\(member.name)' is unknown; use one of "
            + TrackerProfile.Signal.allCases.map(\.rawValue).joined(separator: ", "),
          line: member.line)
        continue
      }
      if let number = number(member) { numbers[signal] = number }
    }
    return TrackerProfile.FrameKind(numbers, when: conditions(keys), pattern: pattern)
  }

  private func conditions(_ keys: ProfileKeys) -> [Int: UInt8] {
    guard let json = keys["when"], let when = ProfileKeys(json, "when", known: [], problems) else {
      return [:]
    }
    var conditions: [Int: UInt8] = [:]
    for member in when.members {
      if let at = Int(member.name), (0..<TrackerProfile.longestFrame).contains(at),
        case .string(let text) = member.value.value, let byte = UInt8(text, radix: 16)
      {
        conditions[at] = byte
      } else {
        problems.add(
          "'when' must map byte offsets to hexadecimal bytes, such as \"1\": \"51\"",
          line: member.line)
      }
    }
    return conditions
  }

  // MARK: Numbers

  private func number(_ member: LocatedJSON.Member) -> TrackerProfile.Number? {
    let known = [
      "byte", "type", "usage", "element", "name", "controller", "low", "channel", "scale",
      "offset", "unit",
    ]
    guard let keys = ProfileKeys(member.value, member.name, known: known, problems),
      let place = place(keys, member)
    else { return nil }
    let unit = keys.word("unit", Self.units.keys.sorted()).flatMap { Self.units[$0] } ?? 1
    return TrackerProfile.Number(
      place, scale: (keys.number("scale") ?? 1) * unit, offset: (keys.number("offset") ?? 0) * unit)
  }

  private func place(
    _ keys: ProfileKeys, _ member: LocatedJSON.Member
  ) -> TrackerProfile.Place? {
    if let text = keys.text("usage") {
      guard let usage = HIDUsage(text) else {
        problems.add("'\(text)' is not a usage such as 0001:0032", line: keys.line(of: "usage"))
        return nil
      }
      return .usage(usage, element: keys.whole("element", 0...65535) ?? 0)
    }
    if let name = keys.text("name") { return .name(name) }
    if let most = keys.whole("controller", 0...119), let least = keys.whole("low", 0...119) {
      let channel = keys.whole("channel", 1...16) ?? 1
      return .controllers(most: UInt8(most), least: UInt8(least), channel: UInt8(channel))
    }
    let type = keys.text("type").flatMap(TrackerProfile.NumberType.init)
    if let byte = keys.number("byte").flatMap(Int.init(exactly:)), let type {
      return .byte(byte, type)
    }
    problems.add(
      "the signal '\(member.name)' needs 'usage', 'name', 'controller' with 'low', or 'byte' with "
        + "'type' set to one of: "
        + TrackerProfile.NumberType.allCases.map(\.rawValue).joined(separator: " "),
      line: member.line)
    return nil
  }
}
