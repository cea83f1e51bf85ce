// SPDX-License-Identifier: Apache-2.0

/// The attributes of a tag, `NAME=value,...` (RFC 8216, section 4.2). If an attribute occurs more
/// than once, its first value is used.
struct AttributeList {
  private enum Value {
    case quoted(String)
    case plain(String)
  }

  private var values: [String: Value] = [:]

  /// Parses the text after the tag's colon.
  ///
  /// - Parameter variables: the variables to substitute in quoted strings, in hexadecimal
  ///   sequences, and in unquoted values that begin with a variable.
  init(_ text: Substring, _ variables: PlaylistVariables) throws(PlaylistError) {
    var rest = text
    while true {
      rest = rest.drop { $0 == " " || $0 == "\t" }
      if rest.isEmpty { return }
      guard let equals = rest.firstIndex(of: "=") else {
        throw PlaylistError("the attribute '\(rest.prefix(40))' has no value")
      }
      let name = String(rest[..<equals])
      guard !name.isEmpty, name.utf8.allSatisfy(Self.isNameCharacter) else {
        throw PlaylistError("'\(name.prefix(40))' is not a valid attribute name")
      }
      rest = rest[equals...].dropFirst()
      let value = try Self.value(name, &rest, variables)
      if values[name] == nil { values[name] = value }
    }
  }

  private static func isNameCharacter(_ byte: UInt8) -> Bool {
    (0x41...0x5A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D
  }

  /// Removes the next value and the comma after it from `rest`. Returns the value with its
  /// variables substituted.
  private static func value(
    _ name: String, _ rest: inout Substring, _ variables: PlaylistVariables
  ) throws(PlaylistError) -> Value {
    let value: Value
    if rest.first == "\"" {
      rest = rest.dropFirst()
      guard let end = rest.firstIndex(of: "\"") else {
        throw PlaylistError("the value of \(name) has no closing quote")
      }
      value = .quoted(try variables.substituted(rest[..<end]))
      rest = rest[end...].dropFirst().drop { $0 != "," }
    } else {
      let end = rest.firstIndex(of: ",") ?? rest.endIndex
      var text = String(rest[..<end])
      while text.last == " " || text.last == "\t" { text.removeLast() }
      if text.hasPrefix("{$") || text.hasPrefix("0x") || text.hasPrefix("0X") {
        text = try variables.substituted(text[...])
      }
      value = .plain(text)
      rest = rest[end...]
    }
    rest = rest.dropFirst()
    return value
  }

  /// Returns the value of an attribute if it is quoted; otherwise nil.
  func text(_ name: String) -> String? {
    if case .quoted(let text) = values[name] { return text }
    return nil
  }

  /// Returns the value of an attribute if it is unquoted; otherwise nil.
  func word(_ name: String) -> String? {
    if case .plain(let text) = values[name] { return text }
    return nil
  }

  /// Whether an attribute has the unquoted value YES.
  func flag(_ name: String) -> Bool { word(name) == "YES" }

  /// Returns the value of an attribute as an integer from 0 to 2^63 - 1; nil if the attribute is
  /// missing or quoted.
  ///
  /// - Throws: an error if the unquoted value is not such an integer.
  func integer(_ name: String) throws(PlaylistError) -> Int? {
    guard let text = word(name) else { return nil }
    guard let number = PlaylistNumber.integer(text[...]) else {
      throw PlaylistError("\(name) is '\(text.prefix(40))', not a valid whole number")
    }
    return number
  }

  /// Returns the value of an attribute as a decimal number; nil if the attribute is missing or
  /// quoted.
  ///
  /// - Throws: an error if the unquoted value is not a decimal number.
  func number(_ name: String) throws(PlaylistError) -> Double? {
    guard let text = word(name) else { return nil }
    guard let number = PlaylistNumber.decimal(text[...]) else {
      throw PlaylistError("\(name) is '\(text.prefix(40))', not a decimal number")
    }
    return number
  }

  /// Returns the result of `read`. If `read` throws an error, adds a note and returns nil.
  func lenient<Value>(
    _ notes: inout [String], _ read: (AttributeList) throws(PlaylistError) -> Value?
  ) -> Value? {
    do throws(PlaylistError) { return try read(self) } catch {
      notes.append("\(error.reason); it is ignored")
      return nil
    }
  }

  /// Returns the value of a quoted attribute.
  ///
  /// - Throws: an error if the attribute is missing or not quoted.
  func required(_ name: String) throws(PlaylistError) -> String {
    guard let text = text(name) else { throw PlaylistError("\(name) is missing or not quoted") }
    return text
  }
}

/// Parsers for the numbers in playlists (RFC 8216, section 4.2).
enum PlaylistNumber {
  /// Parses a whole number from 0 to 2^63 - 1 in decimal digits. Returns nil for other text.
  static func integer(_ text: Substring) -> Int? {
    guard let first = text.utf8.first, (0x30...0x39).contains(first) else { return nil }
    return Int(text)
  }

  /// Parses a decimal number with an optional sign, without an exponent. Returns nil for other text
  /// and for numbers beyond the range of `Double`.
  static func decimal(_ text: Substring) -> Double? {
    let isPlain = text.utf8.allSatisfy {
      (0x30...0x39).contains($0) || $0 == 0x2E || $0 == 0x2D || $0 == 0x2B
    }
    guard isPlain, let number = Double(text), number.isFinite else { return nil }
    return number
  }

  /// Parses `0x` or `0X`, followed by 1 to 32 hexadecimal digits, as a number of 16 bytes, most
  /// significant byte first. Returns nil for other text.
  static func initialisationVector(_ text: Substring) -> [UInt8]? {
    guard text.hasPrefix("0x") || text.hasPrefix("0X") else { return nil }
    let digits = text.dropFirst(2)
    guard !digits.isEmpty, digits.utf8.count <= 32 else { return nil }
    var bytes = [UInt8](repeating: 0, count: 16)
    for (place, digit) in digits.reversed().enumerated() {
      guard digit.isASCII, let value = digit.hexDigitValue else { return nil }
      bytes[15 - place / 2] |= UInt8(value) << (place % 2 == 0 ? 0 : 4)
    }
    return bytes
  }
}
