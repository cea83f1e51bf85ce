// SPDX-License-Identifier: Apache-2.0

/// Writes headers bit by bit, most significant bit first.
struct BitWriter {
  private(set) var bits: [UInt8] = []

  mutating func put(_ value: Int, _ count: Int) {
    for shift in stride(from: count - 1, through: 0, by: -1) {
      bits.append(UInt8(value >> shift & 1))
    }
  }

  mutating func put(optional value: Int?, _ count: Int) {
    put(value == nil ? 0 : 1, 1)
    if let value { put(value, count) }
  }

  /// The bits as bytes, padded with zeros.
  var bytes: [UInt8] {
    stride(from: 0, to: bits.count, by: 8).map { start in
      (0..<8).reduce(0) { byte, i in
        byte << 1 | (start + i < bits.count ? bits[start + i] : 0)
      }
    }
  }
}

/// Returns the bits of bytes, most significant bit first.
func bits(of bytes: some Sequence<UInt8>) -> [UInt8] {
  bytes.flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } }
}

func bytes(of bits: [UInt8]) -> [UInt8] {
  var writer = BitWriter()
  for bit in bits { writer.put(Int(bit), 1) }
  return writer.bytes
}
