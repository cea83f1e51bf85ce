// SPDX-License-Identifier: Apache-2.0

/// A reader for the ID3 tags at the start of a packed audio segment (ID3v2.3 and 2.4).
enum ID3Tag {
  /// Returns the total length of the tags in bytes; 0 if there are none.
  static func length(_ bytes: [UInt8]) -> Int {
    var place = 0
    while let end = end(bytes, at: place) { place = end }
    return place
  }

  /// Returns the time of the first sample, in 90 kHz ticks modulo 2^33; nil if the tags do not
  /// contain it. The PRIV frame `com.apple.streaming.transportStreamTimestamp` contains the time
  /// (RFC 8216, section 3.4).
  static func timestamp(_ bytes: [UInt8]) -> UInt64? {
    var place = 0
    while let end = end(bytes, at: place) {
      if let time = timestamp(bytes, in: (place + 10)..<end, version: bytes[place + 3]) {
        return time
      }
      place = end
    }
    return nil
  }

  private static func end(_ bytes: [UInt8], at place: Int) -> Int? {
    guard bytes.count - place >= 10, bytes[place...].starts(with: Array("ID3".utf8)) else {
      return nil
    }
    guard let size = synchsafe(bytes, at: place + 6) else { return nil }
    let footer = bytes[place + 5] & 0x10 == 0 ? 0 : 10
    let end = place + 10 + size + footer
    return end <= bytes.count ? end : nil
  }

  /// Reads a 28-bit integer from the lower seven bits of each of four bytes; nil if the highest bit
  /// of a byte is set.
  private static func synchsafe(_ bytes: [UInt8], at place: Int) -> Int? {
    let digits = bytes[place..<(place + 4)]
    guard digits.allSatisfy({ $0 < 0x80 }) else { return nil }
    return digits.reduce(0) { $0 << 7 | Int($1) }
  }

  private static func timestamp(
    _ bytes: [UInt8], in range: Range<Int>, version: UInt8
  ) -> UInt64? {
    let owner = Array("com.apple.streaming.transportStreamTimestamp\0".utf8)
    var place = range.lowerBound
    while range.upperBound - place >= 10 {
      // In version 2.3, frame sizes use all 8 bits of each byte.
      let plain = bytes[(place + 4)..<(place + 8)].reduce(0) { $0 << 8 | Int($1) }
      let size = version >= 4 ? synchsafe(bytes, at: place + 4) ?? plain : plain
      let end = place + 10 + size
      guard size > 0, end <= range.upperBound else { return nil }
      let content = bytes[(place + 10)..<end]
      if bytes[place..<(place + 4)].elementsEqual("PRIV".utf8), content.starts(with: owner),
        content.count >= owner.count + 8
      {
        let time = content.dropFirst(owner.count).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        return time & (1 << 33 - 1)
      }
      place = end
    }
    return nil
  }
}
