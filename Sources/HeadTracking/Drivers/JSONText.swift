// SPDX-License-Identifier: Apache-2.0

/// A parser for the subset of JSON (RFC 8259) that device calibrations use. It is safe for
/// arbitrary bytes.
struct JSONText {
  enum Value: Equatable {
    case object([String: Value])
    case array([Value])
    case string(String)
    case number(Double)
    case bool(Bool)
    case null
  }

  private let bytes: [UInt8]
  private var at: Int
  private var depth = 0
  private static let deepest = 32

  init(_ bytes: [UInt8], at start: Int = 0) {
    self.bytes = bytes
    at = start
  }

  /// Reads the next value; nil if it is invalid or nested more than 32 levels deep.
  mutating func value() -> Value? {
    skipBlanks()
    guard let byte = peek, depth < Self.deepest else { return nil }
    depth += 1
    defer { depth -= 1 }
    switch byte {
    case UInt8(ascii: "{"): return object()
    case UInt8(ascii: "["): return array()
    case UInt8(ascii: "\""): return string().map(Value.string)
    case UInt8(ascii: "t"): return word("true", .bool(true))
    case UInt8(ascii: "f"): return word("false", .bool(false))
    case UInt8(ascii: "n"): return word("null", .null)
    default: return number()
    }
  }

  private var peek: UInt8? { at < bytes.count ? bytes[at] : nil }

  private mutating func skipBlanks() {
    while let byte = peek, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { at += 1 }
  }

  private mutating func take(_ letter: Unicode.Scalar) -> Bool {
    skipBlanks()
    guard peek == UInt8(ascii: letter) else { return false }
    at += 1
    return true
  }

  private mutating func object() -> Value? {
    guard take("{") else { return nil }
    var members: [String: Value] = [:]
    if take("}") { return .object(members) }
    repeat {
      skipBlanks()
      guard let key = string(), take(":"), let value = value() else { return nil }
      members[key] = value
    } while take(",")
    return take("}") ? .object(members) : nil
  }

  private mutating func array() -> Value? {
    guard take("[") else { return nil }
    var items: [Value] = []
    if take("]") { return .array(items) }
    repeat {
      guard let item = value() else { return nil }
      items.append(item)
    } while take(",")
    return take("]") ? .array(items) : nil
  }

  /// Reads a string without decoding escape sequences; nil if no complete string begins at the next
  /// byte.
  private mutating func string() -> String? {
    guard peek == UInt8(ascii: "\"") else { return nil }
    let start = at + 1
    at = start
    while let byte = peek {
      if byte == UInt8(ascii: "\"") {
        at += 1
        return String(decoding: bytes[start..<at - 1], as: UTF8.self)
      }
      at += byte == UInt8(ascii: "\\") ? 2 : 1
    }
    return nil
  }

  private mutating func word(_ word: String, _ value: Value) -> Value? {
    guard bytes[at...].starts(with: word.utf8) else { return nil }
    at += word.utf8.count
    return value
  }

  private mutating func number() -> Value? {
    let start = at
    while let byte = peek, (0x30...0x39).contains(byte) || "+-.eE".utf8.contains(byte) { at += 1 }
    return Double(String(decoding: bytes[start..<at], as: UTF8.self)).map(Value.number)
  }
}
