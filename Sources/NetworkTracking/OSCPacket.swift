// SPDX-License-Identifier: Apache-2.0

/// Decodes OSC packets (opensoundcontrol.org, OSC 1.0): messages, and bundles of them.
enum OSCPacket {
  private static let deepest = 8
  private static let most = 256
  private static let mostArguments = 16

  /// Returns the messages of a packet, in order; nil if the packet is malformed, has an argument of
  /// an unknown type, or exceeds one of the limits above. The time tags of bundles are ignored.
  static func messages(_ bytes: [UInt8]) -> [OSCMessage]? {
    var messages: [OSCMessage] = []
    return take(bytes[...], into: &messages, depth: 0) ? messages : nil
  }

  private static func take(
    _ bytes: ArraySlice<UInt8>, into messages: inout [OSCMessage], depth: Int
  ) -> Bool {
    guard bytes.starts(with: Array("#bundle\0".utf8)) else {
      guard messages.count < most, let message = message(bytes) else { return false }
      messages.append(message)
      return true
    }
    guard depth < deepest, bytes.count >= 16 else { return false }
    var rest = bytes.dropFirst(16)
    while !rest.isEmpty {
      guard let size = integer(&rest, bytes: 4), size <= UInt64(rest.count),
        take(rest.prefix(Int(size)), into: &messages, depth: depth + 1)
      else { return false }
      rest = rest.dropFirst(Int(size))
    }
    return true
  }

  private static func message(_ bytes: ArraySlice<UInt8>) -> OSCMessage? {
    var rest = bytes
    guard let address = text(&rest), address.hasPrefix("/"), let types = text(&rest),
      types.hasPrefix(","), types.utf8.count <= mostArguments + 1
    else { return nil }
    var numbers: [Double] = []
    for type in types.utf8.dropFirst() {
      guard let number = argument(type, &rest) else { return nil }
      numbers.append(number)
    }
    return OSCMessage(address, numbers)
  }

  /// Removes an argument from `rest` and returns it: NaN if it is not a number, nil if it is
  /// malformed or of an unknown type.
  private static func argument(_ type: UInt8, _ rest: inout ArraySlice<UInt8>) -> Double? {
    switch type {
    case UInt8(ascii: "f"):
      integer(&rest, bytes: 4).map { Double(Float(bitPattern: UInt32($0))) }
    case UInt8(ascii: "d"): integer(&rest, bytes: 8).map { Double(bitPattern: $0) }
    case UInt8(ascii: "i"):
      integer(&rest, bytes: 4).map { Double(Int32(truncatingIfNeeded: $0)) }
    case UInt8(ascii: "h"):
      integer(&rest, bytes: 8).map { Double(Int64(bitPattern: $0)) }
    case UInt8(ascii: "s"), UInt8(ascii: "S"): text(&rest).map { _ in .nan }
    case UInt8(ascii: "c"), UInt8(ascii: "r"), UInt8(ascii: "m"):
      integer(&rest, bytes: 4).map { _ in .nan }
    case UInt8(ascii: "t"): integer(&rest, bytes: 8).map { _ in .nan }
    case UInt8(ascii: "T"), UInt8(ascii: "F"), UInt8(ascii: "N"), UInt8(ascii: "I"): .nan
    case UInt8(ascii: "b"): blob(&rest).map { .nan }
    default: nil
    }
  }

  private static func blob(_ rest: inout ArraySlice<UInt8>) -> Void? {
    guard let size = integer(&rest, bytes: 4), size <= UInt64(rest.count) else { return nil }
    rest = rest.dropFirst((Int(size) + 3) & ~3)
    return ()
  }

  /// Removes a big-endian integer from `rest` and returns it; nil if there are fewer than `count`
  /// bytes.
  private static func integer(_ rest: inout ArraySlice<UInt8>, bytes count: Int) -> UInt64? {
    guard rest.count >= count else { return nil }
    let value = rest.prefix(count).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    rest = rest.dropFirst(count)
    return value
  }

  /// Removes a string from `rest` and returns it; nil if it is incomplete. A zero byte ends the
  /// string, and further zeros pad it to a multiple of four bytes.
  private static func text(_ rest: inout ArraySlice<UInt8>) -> String? {
    guard let end = rest.firstIndex(of: 0) else { return nil }
    let text = String(decoding: rest[..<end], as: UTF8.self)
    let length = (end - rest.startIndex + 4) & ~3
    guard length <= rest.count else { return nil }
    rest = rest.dropFirst(length)
    return text
  }
}
