// SPDX-License-Identifier: Apache-2.0

/// Little-endian numbers in a report. The caller must check the length.
extension Array where Element == UInt8 {
  func u16(_ at: Int) -> UInt16 { UInt16(self[at]) | UInt16(self[at + 1]) << 8 }
  func i16(_ at: Int) -> Int16 { Int16(bitPattern: u16(at)) }
  func u32(_ at: Int) -> UInt32 { UInt32(u16(at)) | UInt32(u16(at + 2)) << 16 }
  func u64(_ at: Int) -> UInt64 { UInt64(u32(at)) | UInt64(u32(at + 4)) << 32 }

  func i24(_ at: Int) -> Int32 {
    let bits = UInt32(u16(at)) | UInt32(self[at + 2]) << 16
    return Int32(bitPattern: bits << 8) >> 8
  }

  /// Returns three consecutive signed 16-bit numbers.
  func vector(_ at: Int) -> SIMD3<Double> {
    SIMD3(Double(i16(at)), Double(i16(at + 2)), Double(i16(at + 4)))
  }

  /// Returns three consecutive signed 24-bit numbers.
  func vector24(_ at: Int) -> SIMD3<Double> {
    SIMD3(Double(i24(at)), Double(i24(at + 3)), Double(i24(at + 6)))
  }

  static func bytes(_ number: UInt16) -> [UInt8] { [UInt8(number & 255), UInt8(number >> 8)] }
  static func bytes(_ number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> UInt32(8 * $0)) }
  }
}

/// In m/s2.
let standardGravity = 9.80665
let radiansPerDegree = Double.pi / 180

extension InertialSample {
  var isFinite: Bool {
    let sum = (angularVelocity + specificForce + (magneticField ?? .zero)).sum()
    return sum.isFinite
  }
}
