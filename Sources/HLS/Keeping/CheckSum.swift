// SPDX-License-Identifier: Apache-2.0

/// CRC-32 of ISO/IEC 8802-3 (polynomial 0x04C11DB7, reflected), as `gzip` and `crc32` have it.
enum CheckSum {
  private static let table: [UInt32] = (0..<256).map { (index: UInt32) in
    (0..<8).reduce(index) { sum, _ in sum & 1 == 0 ? sum >> 1 : sum >> 1 ^ 0xEDB8_8320 }
  }

  static func of(_ bytes: [UInt8]) -> UInt32 {
    let table = table
    var sum = UInt32.max
    for byte in bytes { sum = sum >> 8 ^ table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] }
    return ~sum
  }
}
