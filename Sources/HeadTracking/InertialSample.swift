// SPDX-License-Identifier: Apache-2.0

/// One raw sample of an inertial sensor, in the project's axes (x front, y left, z up). A recorded
/// or uncalibrated sample can have other axes.
public struct InertialSample: Sendable, Equatable {
  /// The time of the sample, in nanoseconds. For a connected tracker, it is a CLOCK_MONOTONIC time.
  /// For a recording, it is the time in the file.
  public var time: Int64
  /// Angular velocity, in rad/s.
  public var angularVelocity: SIMD3<Double>
  /// Specific force, in m/s2: +9.81 upwards at rest.
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
