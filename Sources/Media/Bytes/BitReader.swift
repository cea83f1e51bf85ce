// SPDX-License-Identifier: Apache-2.0

/// Bits of a header, most significant first. Beyond the end it gives zeros and says so.
struct BitReader {
  private let bytes: ArraySlice<UInt8>
  /// Of the next bit, from the start.
  private(set) var position = 0
  /// Whether more was asked for than there is.
  private(set) var isExhausted = false

  init(_ bytes: some Collection<UInt8>) { self.bytes = ArraySlice(Array(bytes)) }

  /// The next `count` bits, 0 to 32.
  mutating func take(_ count: Int) -> Int {
    guard count <= bytes.count * 8 - position else {
      isExhausted = true
      position = bytes.count * 8
      return 0
    }
    var value = 0
    for _ in 0..<count {
      let byte = bytes[bytes.startIndex + position >> 3]
      value = value << 1 | Int(byte >> UInt8(7 - position & 7) & 1)
      position += 1
    }
    return value
  }

  mutating func flag() -> Bool { take(1) == 1 }

  /// The next `count` bits where a flag before them says that they are there.
  mutating func optional(_ count: Int) -> Int? { flag() ? take(count) : nil }

  mutating func skip(_ count: Int) {
    guard count >= 0, count <= bytes.count * 8 - position else {
      isExhausted = true
      position = bytes.count * 8
      return
    }
    position += count
  }
}
