// SPDX-License-Identifier: Apache-2.0

/// One raw sample of an inertial measurement unit, in the project's axes (x front, y left, z up),
/// unless a calibration has yet to convert it. A sample from a recording is in the sensor's axes.
public struct InertialSample: Sendable, Equatable {
  /// The time of the sample, in nanoseconds. For a connected tracker, this is the time on
  /// CLOCK_MONOTONIC; for a recording, it is the time in the file.
  public var time: Int64
  /// Angular velocity, in rad/s.
  public var angularVelocity: SIMD3<Double>
  /// Specific force, as an accelerometer measures it, in m/s2: +9.81 upwards at rest.
  public var specificForce: SIMD3<Double>
  /// Magnetic field, in microtesla; nil if the sensor reports none.
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
