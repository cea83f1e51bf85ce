// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Geometry

/// A report from the service `devmotion6`: the orientation that the earphones compute, the angular
/// velocity and the direction of gravity.
///
/// The numbers are little-endian. The quaternion's w is not transmitted; it is the non-negative
/// value that makes the norm 1.
///
/// | offset in bytes | field |
/// |---|---|
/// | 0 | report ID |
/// | 1 | time in ns |
/// | 9 | version |
/// | 10 | status |
/// | 12 | sensor time in us |
/// | 20 | quaternion x, y, z (i16, in units of 1/32767) |
/// | 26 | angular velocity x, y, z (i16, in units of 1/512 rad/s) |
/// | 44 | gravity x, y, z (i16, in units of 1/1024 g) |
/// | 54 | sample counter |
struct MotionReport: Equatable {
  /// The time of the sample on the sensor's own clock, in microseconds.
  var microseconds: UInt64
  /// The sample counter: 32 bits wide in version 3, otherwise 16.
  var counter: UInt32
  /// The version of the report's layout, 3 to 6.
  var version: UInt8
  /// The vector part of the unit quaternion `sensorToWorld` (z up) whose `w` is not negative.
  var vector: SIMD3<Double>
  /// Angular velocity in the sensor's axes, in rad/s.
  var angularVelocity: SIMD3<Double>
  /// The acceleration of gravity (downwards) in the sensor's axes, in g.
  var gravity: SIMD3<Double>

  /// Decodes a report. Returns nil if it is too short, invalid, or of another kind or version.
  init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count >= 56, bytes.first == 1 else { return nil }
    let at = bytes.startIndex
    func byte(_ offset: Int) -> UInt64 { UInt64(bytes[at + offset]) }
    func unsigned(_ offset: Int, _ count: Int) -> UInt64 {
      (0..<count).reduce(0) { $0 | byte(offset + $1) << UInt64(8 * $1) }
    }
    func vector(_ offset: Int, _ scale: Double) -> SIMD3<Double> {
      let numbers = (0..<3).map {
        Double(Int16(truncatingIfNeeded: unsigned(offset + 2 * $0, 2)))
      }
      return SIMD3(numbers[0], numbers[1], numbers[2]) / scale
    }
    version = UInt8(byte(9))
    guard (3...6).contains(version), version > 3 || bytes.count >= 58 else { return nil }
    let isInvalid = unsigned(10, 2) & 0x0080 != 0
    microseconds = unsigned(12, 8)
    self.vector = vector(20, 32767)
    angularVelocity = vector(26, 512)
    gravity = vector(44, 1024)
    counter = UInt32(unsigned(54, version == 3 ? 4 : 2))
    // Because the three components are rounded, their norm can slightly exceed 1.
    guard !isInvalid, (self.vector * self.vector).sum() < 1.001 else { return nil }
  }

  /// The quaternion `sensorToWorld` whose w is not negative.
  var orientation: Quaternion {
    let w = max(0, 1 - (vector * vector).sum()).squareRoot()
    return Quaternion(w: w, x: vector.x, y: vector.y, z: vector.z).normalized
  }

  /// The angle between `gravity` and the orientation's downward direction, in radians; pi if
  /// `gravity` is at most 0.1 g.
  var tiltError: Double {
    let down = orientation.conjugate.rotate(SIMD3(0, 0, -1))
    let along = (down * gravity).sum()
    let across = ((gravity - down * along) * (gravity - down * along)).sum().squareRoot()
    guard (gravity * gravity).sum() > 0.01 else { return .pi }
    return realtime_atan2(across, along)
  }
}
