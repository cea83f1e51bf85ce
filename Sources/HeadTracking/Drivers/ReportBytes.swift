// SPDX-License-Identifier: Apache-2.0

/// Numbers in a report, little-endian. The caller has looked at the length.
extension Array where Element == UInt8 {
  func u16(_ at: Int) -> UInt16 { UInt16(self[at]) | UInt16(self[at + 1]) << 8 }
  func i16(_ at: Int) -> Int16 { Int16(bitPattern: u16(at)) }
  func u32(_ at: Int) -> UInt32 { UInt32(u16(at)) | UInt32(u16(at + 2)) << 16 }
  func u64(_ at: Int) -> UInt64 { UInt64(u32(at)) | UInt64(u32(at + 4)) << 32 }

  func i24(_ at: Int) -> Int32 {
    let bits = UInt32(u16(at)) | UInt32(self[at + 2]) << 16
    return Int32(bitPattern: bits << 8) >> 8
  }

  /// Three 16-bit numbers in a row.
  func vector(_ at: Int) -> SIMD3<Double> {
    SIMD3(Double(i16(at)), Double(i16(at + 2)), Double(i16(at + 4)))
  }

  /// Three 24-bit numbers in a row.
  func vector24(_ at: Int) -> SIMD3<Double> {
    SIMD3(Double(i24(at)), Double(i24(at + 3)), Double(i24(at + 6)))
  }

  static func bytes(_ number: UInt16) -> [UInt8] { [UInt8(number & 255), UInt8(number >> 8)] }
  static func bytes(_ number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> UInt32(8 * $0)) }
  }
}

/// The checksum of Ethernet and zip (IEEE 802.3), as many devices use it.
struct CRC32 {
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { crc, _ in crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
  }

  static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
    ~bytes.reduce(0xFFFF_FFFF) { crc, byte in
      table[Int(UInt8(truncatingIfNeeded: crc) ^ byte)] ^ crc >> 8
    }
  }
}

/// m/s2 of the unit in which accelerometers count.
let standardGravity = 9.80665
/// rad/s of one degree a second.
let radiansPerDegree = Double.pi / 180

extension InertialSample {
  /// Whether every number is one.
  var isFinite: Bool {
    let sum = (angularVelocity + specificForce + (magneticField ?? .zero)).sum()
    return sum.isFinite
  }
}
