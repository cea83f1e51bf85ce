// SPDX-License-Identifier: Apache-2.0

/// Conversions between numbers and the bytes of a report. All are little-endian except `f32be`. The
/// caller must check that the report is long enough.
extension Array where Element == UInt8 {
  package func u16(_ at: Int) -> UInt16 { UInt16(self[at]) | UInt16(self[at + 1]) << 8 }
  package func i16(_ at: Int) -> Int16 { Int16(bitPattern: u16(at)) }
  package func u32(_ at: Int) -> UInt32 { UInt32(u16(at)) | UInt32(u16(at + 2)) << 16 }
  package func u64(_ at: Int) -> UInt64 { UInt64(u32(at)) | UInt64(u32(at + 4)) << 32 }

  package func i24(_ at: Int) -> Int32 {
    let bits = UInt32(u16(at)) | UInt32(self[at + 2]) << 16
    return Int32(bitPattern: bits << 8) >> 8
  }

  /// Returns three consecutive signed 16-bit numbers.
  package func vector(_ at: Int) -> SIMD3<Double> {
    SIMD3(Double(i16(at)), Double(i16(at + 2)), Double(i16(at + 4)))
  }

  /// Returns three consecutive signed 24-bit numbers.
  package func vector24(_ at: Int) -> SIMD3<Double> {
    SIMD3(Double(i24(at)), Double(i24(at + 3)), Double(i24(at + 6)))
  }

  package func f32(_ at: Int) -> Double { Double(Float(bitPattern: u32(at))) }
  package func f32be(_ at: Int) -> Double { Double(Float(bitPattern: u32(at).byteSwapped)) }

  /// Returns three consecutive 32-bit floating-point numbers.
  package func floats(_ at: Int) -> SIMD3<Double> { SIMD3(f32(at), f32(at + 4), f32(at + 8)) }

  package static func bytes(_ number: UInt16) -> [UInt8] {
    [UInt8(number & 255), UInt8(number >> 8)]
  }
  package static func bytes(_ number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> UInt32(8 * $0)) }
  }
}

/// The standard acceleration of gravity, in m/s2.
package let standardGravity = 9.80665
package let radiansPerDegree = Double.pi / 180

extension SIMD3<Double> {
  /// Whether each component is plausible for a rate in rad/s or a specific force in m/s2: its
  /// magnitude must be below 10000.
  package var isReasonable: Bool { (0..<3).allSatisfy { abs(self[$0]) < 10_000 } }
}

extension InertialSample {
  var isFinite: Bool {
    let sum = (angularVelocity + specificForce + (magneticField ?? .zero)).sum()
    return sum.isFinite
  }
}
