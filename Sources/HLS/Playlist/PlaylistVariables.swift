// SPDX-License-Identifier: Apache-2.0

/// The variables that `EXT-X-DEFINE` tags define. Their values replace `{$name}` in later URIs and
/// attribute values (RFC 8216bis, section 4.3).
public struct PlaylistVariables: Sendable, Equatable {
  private(set) var values: [String: String] = [:]

  public init() {}

  /// Adds the variable that an `EXT-X-DEFINE` tag defines.
  ///
  /// - Parameters:
  ///   - imported: the variables of the multivariant playlist, for IMPORT.
  ///   - query: the parameters of the playlist's own address, for QUERYPARAM.
  /// - Throws: an error if the name is missing, invalid or already defined, if there is no value,
  ///   or if there are too many variables.
  mutating func define(
    _ attributes: AttributeList, imported: PlaylistVariables, query: [String: String]
  ) throws(PlaylistError) {
    if let name = attributes.text("NAME") {
      try set(name, try attributes.required("VALUE"))
    } else if let name = attributes.text("IMPORT") {
      guard let value = imported.values[name] else {
        throw PlaylistError(
          "the variable '\(name)' is imported, but no opened multivariant playlist defines it")
      }
      try set(name, value)
    } else if let name = attributes.text("QUERYPARAM") {
      guard let value = query[name] else {
        throw PlaylistError(
          "the playlist takes the variable '\(name)' from its own address, but that address has no "
            + "parameter '\(name)='")
      }
      try set(name, value)
    } else {
      throw PlaylistError("EXT-X-DEFINE has no quoted NAME, IMPORT or QUERYPARAM")
    }
  }

  private mutating func set(_ name: String, _ value: String) throws(PlaylistError) {
    let isName = !name.isEmpty && name.utf8.allSatisfy(Self.isNameCharacter)
    guard isName else {
      throw PlaylistError("'\(name.prefix(40))' is not a valid variable name")
    }
    guard values[name] == nil else {
      throw PlaylistError("the variable '\(name)' is defined twice")
    }
    guard values.count < PlaylistLimits.variables else {
      throw PlaylistError("the playlist defines more than \(PlaylistLimits.variables) variables")
    }
    values[name] = value
  }

  private static func isNameCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
    default: false
    }
  }

  /// Returns `text` with each variable replaced by its value. Values are inserted as they are, even
  /// if they contain `{$name}`.
  ///
  /// - Throws: an error if a variable is not defined or the result is too long.
  func substituted(_ text: Substring) throws(PlaylistError) -> String {
    guard text.contains("{$") else { return String(text) }
    var result = ""
    var rest = text
    while let brace = rest.firstIndex(of: "{") {
      result += rest[..<brace]
      rest = rest[brace...]
      guard rest.hasPrefix("{$"), let end = rest.firstIndex(of: "}") else {
        result += "{"
        rest = rest.dropFirst()
        continue
      }
      let name = String(rest[..<end].dropFirst(2))
      guard let value = values[name] else {
        throw PlaylistError("the variable '\(name.prefix(40))' is not defined")
      }
      result += value
      guard result.utf8.count <= PlaylistLimits.lineCharacters else {
        throw PlaylistError("the text is too long after its variables are replaced")
      }
      rest = rest[end...].dropFirst()
    }
    return result + rest
  }
}
