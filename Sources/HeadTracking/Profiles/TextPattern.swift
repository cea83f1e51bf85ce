// SPDX-License-Identifier: Apache-2.0

/// The form of a text frame: literal text and, in braces, the names of numbers, such as
/// `{w},{x},{y},{z}`.
///
/// The frame may have blanks before and after each number and each word of the literal text. A
/// number named `_` is ignored.
public struct TextPattern: Sendable, Equatable {
  private enum Part: Equatable {
    case literal([UInt8])
    case number(String)
  }

  /// The pattern as written.
  public let text: String
  private var parts: [Part] = []

  /// The longest accepted number, in characters.
  private static let longestNumber = 40

  /// Parses a pattern; nil if it has no name other than `_`, if its braces are unbalanced, if a
  /// name is empty, if a name other than `_` is repeated, or if two numbers have nothing between
  /// them.
  public init?(_ text: String) {
    self.text = text
    var rest = text[...]
    while !rest.isEmpty {
      if rest.first == "{" {
        guard let end = rest.firstIndex(of: "}") else { return nil }
        let name = String(rest[rest.index(after: rest.startIndex)..<end])
        guard !name.isEmpty, !name.contains("{"), name == "_" || !names.contains(name) else {
          return nil
        }
        if case .number = parts.last { return nil }
        parts.append(.number(name))
        rest = rest[rest.index(after: end)...]
      } else {
        let end = rest.firstIndex { $0 == "{" || $0 == "}" } ?? rest.endIndex
        guard end > rest.startIndex else { return nil }
        let words = rest[..<end].utf8.split(whereSeparator: Self.isBlank)
        // An empty literal separates two numbers that have only blanks between them.
        parts += words.isEmpty ? [.literal([])] : words.map { .literal(Array($0)) }
        rest = rest[end...]
      }
    }
    guard !names.isEmpty else { return nil }
  }

  /// The names of the numbers, without `_`.
  public var names: [String] {
    parts.compactMap {
      if case .number(let name) = $0, name != "_" { name } else { nil }
    }
  }

  /// Returns the numbers in a frame by name; nil if the frame does not have this form.
  func numbers(in frame: [UInt8]) -> [String: Double]? {
    var found: [String: Double] = [:]
    var at = 0
    func skipBlanks() { while at < frame.count, Self.isBlank(frame[at]) { at += 1 } }
    for part in parts {
      skipBlanks()
      switch part {
      case .literal(let literal):
        guard frame[at...].starts(with: literal) else { return nil }
        at += literal.count
      case .number(let name):
        guard let (value, end) = Self.number(frame, at) else { return nil }
        found[name] = value
        at = end
      }
    }
    skipBlanks()
    return at == frame.count ? found : nil
  }

  /// Reads a decimal number that begins at `start`; nil if there is none, or if it is too long or
  /// not finite.
  private static func number(_ bytes: [UInt8], _ start: Int) -> (value: Double, end: Int)? {
    var end = start
    func digits() -> Int {
      let begin = end
      while end < bytes.count, (0x30...0x39).contains(bytes[end]) { end += 1 }
      return end - begin
    }
    func take(_ letters: String) -> Bool {
      guard end < bytes.count, letters.utf8.contains(bytes[end]) else { return false }
      end += 1
      return true
    }
    _ = take("+-")
    var count = digits()
    if take(".") { count += digits() }
    guard count > 0 else { return nil }
    let mantissa = end
    if take("eE") {
      _ = take("+-")
      if digits() == 0 { end = mantissa }
    }
    guard end - start <= longestNumber,
      let value = Double(String(decoding: bytes[start..<end], as: UTF8.self)), value.isFinite
    else { return nil }
    return (value, end)
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }
}
