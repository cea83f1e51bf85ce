// SPDX-License-Identifier: Apache-2.0

import System

/// The factory calibration of a DualSense or DualShock 4, from its feature report.
///
/// For each axis, the report contains the gyroscope's readings at rest and at a known rate in both
/// directions, and the accelerometer's readings at +1 g and -1 g. Some clones report garbage, so an
/// axis with an implausible scale gets the nominal scale and a bias of zero. Source: Linux 6.1,
/// drivers/hid/hid-playstation.c and hid-sony.c.
struct PadCalibration: Sendable, Equatable {
  /// The gyroscope's reading at rest, in raw counts.
  var gyroBias = SIMD3<Double>()
  /// The gyroscope's scale, in rad/s per count.
  var gyroScale = SIMD3<Double>(repeating: Self.nominalGyro)
  /// The accelerometer's reading at 0 g, in raw counts.
  var accelBias = SIMD3<Double>()
  /// The accelerometer's scale, in m/s2 per count.
  var accelScale = SIMD3<Double>(repeating: Self.nominalAccel)

  /// The gyroscope's nominal scale, in rad/s per count. Full scale is 2000 degrees/s.
  static let nominalGyro = 2000 / 32768 * radiansPerDegree
  /// The accelerometer's nominal scale, in m/s2 per count. Full scale is 4 g.
  static let nominalAccel = 4 / 32768 * standardGravity

  /// The order in which the report lists the gyroscope's readings at the known rates.
  enum Order {
    /// The order pitch+, pitch-, yaw+, yaw-, roll+, roll-.
    case pairs
    /// The order pitch+, yaw+, roll+, pitch-, yaw-, roll-.
    case ends
    /// `pairs` if the signs of the readings fit that order, otherwise `ends`.
    case bySigns
  }

  init() {}

  /// Reads a calibration from a feature report, whose first byte is the report ID. If the report is
  /// shorter than 35 bytes, the calibration is nominal.
  init(_ report: [UInt8], order: Order) {
    guard report.count >= 35 else { return }
    let ends = (0..<6).map { Double(report.i16(7 + 2 * $0)) }
    let isInPairs =
      switch order {
      case .pairs: true
      case .ends: false
      case .bySigns: ends[1] < 0 && ends[2] > 0
      }
    let speed = Double(report.i16(19)) + Double(report.i16(21))
    for axis in 0..<3 {
      let plus = isInPairs ? ends[2 * axis] : ends[axis]
      let minus = isInPairs ? ends[2 * axis + 1] : ends[axis + 3]
      let scale = speed * radiansPerDegree / (plus - minus)
      if Self.isNear(scale, Self.nominalGyro) {
        gyroScale[axis] = scale
        gyroBias[axis] = Double(report.i16(1 + 2 * axis))
      }
      let up = Double(report.i16(23 + 4 * axis))
      let down = Double(report.i16(25 + 4 * axis))
      let weight = 2 * standardGravity / (up - down)
      if Self.isNear(weight, Self.nominalAccel) {
        accelScale[axis] = weight
        accelBias[axis] = (up + down) / 2
      }
    }
  }

  private static func isNear(_ scale: Double, _ nominal: Double) -> Bool {
    scale > 0.5 * nominal && scale < 2 * nominal
  }

  func sample(
    gyro: SIMD3<Double>, accel: SIMD3<Double>, time: Int64, axes: AxisMap
  ) -> InertialSample {
    InertialSample(
      time: time, angularVelocity: axes.apply((gyro - gyroBias) * gyroScale),
      specificForce: axes.apply((accel - accelBias) * accelScale))
  }
}

/// The checksum at the end of a pad's Bluetooth reports.
enum PadChecksum {
  /// Returns whether the last four bytes are the CRC-32 of the seed byte and the preceding bytes.
  /// The seed is 0xA1 for input and 0xA3 for feature reports.
  static func isRight(_ report: some Collection<UInt8>, seed: UInt8) -> Bool {
    let bytes = Array(report)
    guard bytes.count > 4 else { return false }
    return CRC32.of([seed] + bytes.dropLast(4)) == bytes.u32(bytes.count - 4)
  }
}
