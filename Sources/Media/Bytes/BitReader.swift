// SPDX-License-Identifier: Apache-2.0

/// Reads bits, most significant bit first. A read past the end returns 0 and sets `isExhausted`.
struct BitReader {
  private let bytes: ArraySlice<UInt8>
  /// The index of the next bit.
  private(set) var position = 0
  /// Whether a read or skip extended past the end or a skip had a negative count.
  private(set) var isExhausted = false

  init(_ bytes: some Collection<UInt8>) { self.bytes = ArraySlice(Array(bytes)) }

  /// Reads the next `count` bits, 0 to 32, as an unsigned number.
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

  /// Reads a flag and, if the flag is set, `count` bits. Returns nil if the flag is not set.
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
