// SPDX-License-Identifier: Apache-2.0

/// A value in a JSON text (RFC 8259), with the line on which it begins.
struct LocatedJSON: Sendable {
  indirect enum Value: Sendable {
    case object([Member])
    case array([LocatedJSON])
    case string(String)
    case number(Double)
    case bool(Bool)
    case null
  }

  struct Member: Sendable {
    var name: String
    /// The number of the line with the name, from 1.
    var line: Int
    var value: LocatedJSON
  }

  var value: Value
  /// The line number, from 1.
  var line: Int

  /// Reads a text. Any bytes may be passed.
  ///
  /// - Throws: the first syntax error, or an error if a value is inside more than 31 arrays and
  ///   objects.
  static func read(_ bytes: [UInt8]) throws(ProfileProblem) -> LocatedJSON {
    var reader = Reader(bytes: bytes)
    let value = try reader.value(depth: 0)
    reader.skipBlanks()
    guard reader.at == bytes.count else {
      throw reader.problem("there is text after the end of the value")
    }
    return value
  }

  private struct Reader {
    let bytes: [UInt8]
    var at = 0
    var line = 1

    static let deepest = 32

    var peek: UInt8? { at < bytes.count ? bytes[at] : nil }

    func problem(_ text: String) -> ProfileProblem {
      ProfileProblem(line: line, text: "invalid JSON: \(text)")
    }

    mutating func skipBlanks() {
      while let byte = peek, [0x20, 0x09, 0x0A, 0x0D].contains(byte) {
        if byte == 0x0A { line += 1 }
        at += 1
      }
    }

    mutating func take(_ letter: Unicode.Scalar) -> Bool {
      skipBlanks()
      guard peek == UInt8(ascii: letter) else { return false }
      at += 1
      return true
    }

    mutating func value(depth: Int) throws(ProfileProblem) -> LocatedJSON {
      skipBlanks()
      guard depth < Self.deepest else { throw problem("a value is nested too deeply") }
      let start = line
      guard let byte = peek else { throw problem("it ends too early") }
      let value: Value
      switch byte {
      case UInt8(ascii: "{"): value = .object(try members(depth))
      case UInt8(ascii: "["): value = .array(try items(depth))
      case UInt8(ascii: "\""): value = .string(try string())
      case UInt8(ascii: "t"): value = try word("true", .bool(true))
      case UInt8(ascii: "f"): value = try word("false", .bool(false))
      case UInt8(ascii: "n"): value = try word("null", .null)
      default: value = .number(try number())
      }
      return LocatedJSON(value: value, line: start)
    }

    mutating func members(_ depth: Int) throws(ProfileProblem) -> [Member] {
      at += 1
      var members: [Member] = []
      if take("}") { return members }
      repeat {
        skipBlanks()
        let start = line
        guard peek == UInt8(ascii: "\"") else { throw problem("a key in quotes is expected") }
        let name = try string()
        guard take(":") else { throw problem("a colon is expected after '\(name)'") }
        members.append(Member(name: name, line: start, value: try value(depth: depth + 1)))
      } while take(",")
      guard take("}") else { throw problem("a comma or } is expected") }
      return members
    }

    mutating func items(_ depth: Int) throws(ProfileProblem) -> [LocatedJSON] {
      at += 1
      var items: [LocatedJSON] = []
      if take("]") { return items }
      repeat { items.append(try value(depth: depth + 1)) } while take(",")
      guard take("]") else { throw problem("a comma or ] is expected") }
      return items
    }

    mutating func string() throws(ProfileProblem) -> String {
      at += 1
      var text: [UInt8] = []
      while let byte = peek, byte >= 0x20 {
        at += 1
        if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
        if byte == UInt8(ascii: "\\") { text += try escape() } else { text.append(byte) }
      }
      throw problem("a string lacks its closing quote or contains a control character")
    }

    mutating func escape() throws(ProfileProblem) -> [UInt8] {
      let letters: [(Unicode.Scalar, UInt8)] = [
        ("\"", 0x22), ("\\", 0x5C), ("/", 0x2F), ("b", 8), ("f", 12), ("n", 10), ("r", 13),
        ("t", 9),
      ]
      let letter = peek
      at += 1
      if let known = letters.first(where: { UInt8(ascii: $0.0) == letter }) { return [known.1] }
      guard letter == UInt8(ascii: "u"), let first = codeUnit() else {
        throw problem("a string has an invalid escape")
      }
      var units = [first]
      let end = at
      if UTF16.isLeadSurrogate(first), bytes[at...].starts(with: "\\u".utf8) {
        at += 2
        if let second = codeUnit(), UTF16.isTrailSurrogate(second) {
          units.append(second)
        } else {
          at = end
        }
      }
      // An unpaired surrogate becomes the replacement character.
      return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    /// Reads a UTF-16 code unit. Returns nil if the next four bytes are not hexadecimal digits.
    mutating func codeUnit() -> UInt16? {
      let digits = bytes[at...].prefix(4)
      guard digits.count == 4,
        digits.allSatisfy({ Unicode.Scalar($0).properties.isASCIIHexDigit })
      else { return nil }
      at += 4
      return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    mutating func word(_ word: String, _ value: Value) throws(ProfileProblem) -> Value {
      guard bytes[at...].starts(with: word.utf8) else { throw problem("a value is expected") }
      at += word.utf8.count
      return value
    }

    mutating func number() throws(ProfileProblem) -> Double {
      let start = at
      while let byte = peek, (0x30...0x39).contains(byte) || "+-.eE".utf8.contains(byte) { at += 1 }
      guard at > start, at - start <= 64, bytes[start] != UInt8(ascii: "+"),
        let number = Double(String(decoding: bytes[start..<at], as: UTF8.self)), number.isFinite
      else { throw problem("a value is expected") }
      return number
    }
  }
}

/// A problem in a tracker profile.
public struct ProfileProblem: Error, Sendable, Equatable {
  /// The line number, from 1; nil if the problem concerns the entire file.
  public var line: Int?
  public var text: String
  /// Whether the profile can be used despite this problem.
  public var isHarmless = false

  public init(line: Int?, text: String, isHarmless: Bool = false) {
    (self.line, self.text, self.isHarmless) = (line, text, isHarmless)
  }
}
