// SPDX-License-Identifier: Apache-2.0

/// A frame of the Galaxy Buds protocol: FD, header (u16), ID, payload, CRC-16, DD. The header and
/// the CRC-16 are sent with the low byte first. Bits 0 to 9 of the header are the length of the ID,
/// payload and checksum together, in bytes.
struct GalaxyFrame: Equatable {
  var id: UInt8
  var payload: [UInt8]

  static let start: UInt8 = 0xFD
  static let end: UInt8 = 0xDD
  /// The number of bytes that the length in the header does not include: FD, the header and DD.
  static let overhead = 4

  /// The frame as sent.
  var bytes: [UInt8] {
    let content = [id] + payload
    let checksum = Self.checksum(content[...])
    let length = content.count + 2
    return [Self.start, UInt8(length & 0xFF), UInt8(length >> 8)] + content
      + [UInt8(checksum & 0xFF), UInt8(checksum >> 8), Self.end]
  }

  /// CRC-16/XMODEM: polynomial 0x1021, initial value 0, most significant bit first.
  static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt16 {
    bytes.reduce(0) { sum, byte in
      (0..<8).reduce(sum ^ UInt16(byte) << 8) { sum, _ in
        sum & 0x8000 != 0 ? sum << 1 ^ 0x1021 : sum << 1
      }
    }
  }
}

/// Splits a byte stream into frames.
struct GalaxyFramer {
  private var buffer: [UInt8] = []

  /// The longest frame, in bytes.
  private static let longest = 0x3FF + GalaxyFrame.overhead

  /// Takes bytes of the stream. Returns the valid frames that are complete, and the number of start
  /// bytes (FD) outside valid frames.
  mutating func take(_ bytes: [UInt8]) -> (frames: [GalaxyFrame], rejectedCount: Int) {
    var frames: [GalaxyFrame] = []
    var rejected = 0
    // Long input is split, so that the buffer stays small.
    for chunk in stride(from: 0, to: bytes.count, by: Self.longest) {
      buffer += bytes[chunk..<min(bytes.count, chunk + Self.longest)]
      take(&frames, &rejected)
    }
    return (frames, rejected)
  }

  private mutating func take(_ frames: inout [GalaxyFrame], _ rejected: inout Int) {
    var rest = buffer[...]
    while let start = rest.firstIndex(of: GalaxyFrame.start) {
      rest = rest[start...]
      guard rest.count >= 3 else { break }
      let length = (Int(rest[start + 1]) | Int(rest[start + 2]) << 8) & 0x3FF
      let total = length + GalaxyFrame.overhead
      guard rest.count >= total || length < 3 else { break }
      if length >= 3, let frame = Self.frame(rest.prefix(total)) {
        frames.append(frame)
        rest = rest.dropFirst(total)
      } else {
        rejected += 1
        rest = rest.dropFirst()
      }
    }
    if rest.first != GalaxyFrame.start { rest = [] }
    buffer = Array(rest)
  }

  /// Returns nil if the last byte or the checksum is wrong.
  private static func frame(_ bytes: ArraySlice<UInt8>) -> GalaxyFrame? {
    let content = bytes.dropFirst(3).dropLast(3)
    let sum = bytes.suffix(3)
    let checksum = UInt16(sum[sum.startIndex]) | UInt16(sum[sum.startIndex + 1]) << 8
    guard bytes.last == GalaxyFrame.end, let id = content.first,
      GalaxyFrame.checksum(content) == checksum
    else { return nil }
    return GalaxyFrame(id: id, payload: Array(content.dropFirst()))
  }
}
