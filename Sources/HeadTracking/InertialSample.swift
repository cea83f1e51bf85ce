// SPDX-License-Identifier: Apache-2.0

/// One raw reading of an inertial measurement unit, in the axes of the house: x front, y left, z
/// up.
public struct InertialSample: Sendable, Equatable {
  /// Nanoseconds; the sensor's own clock brought to CLOCK_MONOTONIC where it has one.
  public var time: Int64
  /// rad/s.
  public var angularVelocity: SIMD3<Double>
  /// What an accelerometer feels, m/s2: +9.81 upwards at rest.
  public var specificForce: SIMD3<Double>
  /// Microtesla; nil without a magnetometer.
  public var magneticField: SIMD3<Double>?

  public init(
    time: Int64, angularVelocity: SIMD3<Double>, specificForce: SIMD3<Double>,
    magneticField: SIMD3<Double>? = nil
  ) {
    self.time = time
    self.angularVelocity = angularVelocity
    self.specificForce = specificForce
    self.magneticField = magneticField
  }
}
