// SPDX-License-Identifier: Apache-2.0

/// Finds the place of a syntax error in a JSON text (RFC 8259).
struct JSONSyntax {
  /// The place of an error: the line, and the column in characters, both from 1.
  struct Place: Equatable {
    let line: Int
    let column: Int
  }

  private struct Failure: Error {}

  private static let deepest = 500
  private let bytes: [UInt8]
  private var at = 0

  /// Returns the place of the first error; nil if there is none. More than `deepest` nested values
  /// also count as an error.
  static func error(in bytes: [UInt8]) -> Place? {
    var syntax = JSONSyntax(bytes)
    do {
      try syntax.value(depth: 0)
      syntax.skipSpace()
      if syntax.at == bytes.count { return nil }
    } catch {}
    return syntax.place
  }

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  private var place: Place {
    let before = bytes[..<at]
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    let line = before.count { $0 == UInt8(ascii: "\n") } + 1
    return Place(line: line, column: String(decoding: before[start...], as: UTF8.self).count + 1)
  }

  private var next: UInt8? { at < bytes.count ? bytes[at] : nil }

  private mutating func skipSpace() {
    while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { at += 1 }
  }

  /// Skips one byte, which must be `character`.
  private mutating func pass(_ character: Unicode.Scalar) throws(Failure) {
    guard next == UInt8(ascii: character) else { throw Failure() }
    at += 1
  }

  /// Skips one byte if it is `character`. Returns whether it was.
  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    at += 1
    return true
  }

  private mutating func value(depth: Int) throws(Failure) {
    skipSpace()
    guard depth < Self.deepest, let first = next else { throw Failure() }
    switch first {
    case UInt8(ascii: "{"): try members("{", "}", depth: depth, areNamed: true)
    case UInt8(ascii: "["): try members("[", "]", depth: depth, areNamed: false)
    case UInt8(ascii: "\""): try text()
    case UInt8(ascii: "t"): try word("true")
    case UInt8(ascii: "f"): try word("false")
    case UInt8(ascii: "n"): try word("null")
    default: try number()
    }
  }

  private mutating func members(
    _ begin: Unicode.Scalar, _ end: Unicode.Scalar, depth: Int, areNamed: Bool
  ) throws(Failure) {
    try pass(begin)
    skipSpace()
    if take(end) { return }
    while true {
      skipSpace()
      if areNamed {
        try text()
        skipSpace()
        try pass(":")
      }
      try value(depth: depth + 1)
      skipSpace()
      if take(end) { return }
      try pass(",")
    }
  }

  private mutating func text() throws(Failure) {
    try pass("\"")
    while let byte = next, byte != UInt8(ascii: "\"") {
      guard byte >= 0x20 else { throw Failure() }
      at += 1
      if byte == UInt8(ascii: "\\") { try escape() }
    }
    try pass("\"")
  }

  private mutating func escape() throws(Failure) {
    guard let byte = next, "\"\\/bfnrtu".utf8.contains(byte) else { throw Failure() }
    at += 1
    guard byte == UInt8(ascii: "u") else { return }
    for _ in 0..<4 {
      guard let digit = next, "0123456789abcdefABCDEF".utf8.contains(digit) else {
        throw Failure()
      }
      at += 1
    }
  }

  private mutating func word(_ word: String) throws(Failure) {
    for scalar in word.unicodeScalars { try pass(scalar) }
  }

  private mutating func number() throws(Failure) {
    if next == UInt8(ascii: "-") { at += 1 }
    if next == UInt8(ascii: "0") { at += 1 } else { try digits() }
    if next == UInt8(ascii: ".") {
      at += 1
      try digits()
    }
    guard next == UInt8(ascii: "e") || next == UInt8(ascii: "E") else { return }
    at += 1
    if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { at += 1 }
    try digits()
  }

  private mutating func digits() throws(Failure) {
    let start = at
    while let byte = next, (0x30...0x39).contains(byte) { at += 1 }
    if at == start { throw Failure() }
  }
}
