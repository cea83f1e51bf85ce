// SPDX-License-Identifier: Apache-2.0

/// Reads big-endian and little-endian numbers from the bytes of a header. A number that extends
/// past the end is nil.
struct HeaderBytes {
  let bytes: ArraySlice<UInt8>

  init(_ bytes: some Collection<UInt8>) { self.bytes = ArraySlice(Array(bytes)) }

  var count: Int { bytes.count }

  func big(_ offset: Int, bytes width: Int) -> UInt64? {
    guard offset >= 0, offset <= count - width else { return nil }
    return (0..<width).reduce(0) { $0 << 8 | UInt64(bytes[bytes.startIndex + offset + $1]) }
  }

  func big16(_ offset: Int) -> Int? { big(offset, bytes: 2).map { Int($0) } }
  func big32(_ offset: Int) -> UInt32? { big(offset, bytes: 4).map { UInt32($0) } }

  func little32(_ offset: Int) -> UInt32? { big32(offset)?.byteSwapped }

  /// Returns the four-character code at `offset`; nil if it extends past the end or contains a
  /// character that is not printable ASCII.
  func code(_ offset: Int) -> String? {
    guard let value = big32(offset) else { return nil }
    let characters = (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    guard characters.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
    return String(decoding: characters, as: UTF8.self)
  }

  func slice(_ offset: Int, count length: Int) -> HeaderBytes? {
    guard offset >= 0, length >= 0, offset <= count - length else { return nil }
    return HeaderBytes(bytes[(bytes.startIndex + offset)..<(bytes.startIndex + offset + length)])
  }
}
