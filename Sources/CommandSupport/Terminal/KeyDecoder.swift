// SPDX-License-Identifier: Apache-2.0

/// Converts the bytes from a terminal to keys.
///
/// The bytes of one key may arrive in parts. An incomplete sequence is kept until `keys(in:)`
/// receives the rest or `finish()` discards it.
struct KeyDecoder {
  private var pending: [UInt8] = []

  /// Whether an incomplete sequence is kept.
  var isPending: Bool { !pending.isEmpty }

  /// Returns the complete keys. Ignores complete sequences without a meaning.
  mutating func keys(in bytes: some Sequence<UInt8>) -> [Console.Key] {
    pending += bytes
    var keys: [Console.Key] = []
    while let length = Self.sequenceLength(pending[...]) {
      if let key = Self.key(pending[..<length]) { keys.append(key) }
      pending.removeFirst(length)
    }
    return keys
  }

  /// Discards an incomplete sequence. Call this after a pause in which no bytes have arrived.
  /// Returns the Escape key if the sequence consists only of the Escape byte; otherwise nil.
  mutating func finish() -> Console.Key? {
    defer { pending = [] }
    return pending == [0x1B] ? .escape : nil
  }

  /// Returns the number of bytes of the first key; nil if there is no complete key.
  private static func sequenceLength(_ bytes: ArraySlice<UInt8>) -> Int? {
    guard let first = bytes.first else { return nil }
    guard first == 0x1B else {
      let length =
        switch first {
        case 0xC2...0xDF: 2
        case 0xE0...0xEF: 3
        case 0xF0...0xF4: 4
        default: 1
        }
      return bytes.count >= length ? length : nil
    }
    guard let lead = bytes.dropFirst().first else { return nil }
    switch lead {
    case UInt8(ascii: "["):
      // A final byte follows the parameter and intermediate bytes (ECMA-48, 5.4).
      let final = bytes.dropFirst(2).firstIndex { !(0x20...0x3F).contains($0) }
      return final.map { $0 - bytes.startIndex + 1 }
    case UInt8(ascii: "O"): return bytes.count >= 3 ? 3 : nil
    case 0x1B: return 1
    // Alt and a key.
    default: return 2
    }
  }

  private static func key(_ bytes: ArraySlice<UInt8>) -> Console.Key? {
    guard bytes.first == 0x1B else { return plainKey(bytes) }
    switch String(decoding: bytes.dropFirst(), as: UTF8.self) {
    case "[A", "OA": return .louder
    case "[B", "OB": return .softer
    case "[C", "OC": return .forward
    case "[D", "OD": return .back
    case "[5~": return .forwardMinute
    case "[6~": return .backMinute
    case "[H", "OH", "[1~": return .other("Home")
    case "[F", "OF", "[4~": return .other("End")
    case "[2~": return .other("Insert")
    case "[3~": return .other("Delete")
    case "": return .escape
    default: return nil
    }
  }

  private static func plainKey(_ bytes: ArraySlice<UInt8>) -> Console.Key? {
    let text = String(decoding: bytes, as: UTF8.self)
    switch text {
    case " ", "p": return .pause
    case "m": return .mute
    case "c": return .recenter
    case "t": return .mode
    case "d": return .decoder
    case "h": return .hrtf
    case "1", "2", "3", "4", "5", "6", "7": return Int(text).map { .order($0) }
    case "x": return .mixStyle
    case ",": return .lessMix
    case ".": return .moreMix
    case "?": return .help
    case "f": return .fullScreen
    case "q": return .quit
    case "n": return .next
    case "l": return .listen
    case "+", "=": return .plus
    case "-": return .minus
    case "\r", "\n", "\r\n": return .enter
    case "\t": return .other("Tab")
    case "\u{8}", "\u{7F}": return .other("Backspace")
    default:
      guard let scalar = text.unicodeScalars.first, scalar.value >= 0x20 else { return nil }
      return .other(text)
    }
  }
}
