// SPDX-License-Identifier: Apache-2.0

/// The parameters of the orientation filter, tested at sampling rates from 25 Hz to 1 kHz.
///
/// Most parameters and defaults are from [1]. Angles are in degrees and rates in degrees/s.
///
/// [1] D. Laidig, T. Seel, "VQF: Highly accurate IMU orientation estimation with bias estimation
/// and magnetic disturbance rejection", Information Fusion 91, 2023, arXiv 2203.17024.
public struct FusionSettings: Sendable, Equatable {
  /// Time constant of the low-pass filter for the specific force, in seconds.
  public var accelerometerTime = 3.0
  /// Time constant with which the heading follows the magnetometer, in seconds; 9 in [1].
  public var magnetometerTime = 16.0
  /// Largest standard deviation of the bias at which `magnetometerTime` applies, in degrees/s.
  /// Above it, the time constant is inversely proportional to the standard deviation.
  public var magnetometerBiasSigma = 0.3
  /// Whether the filter uses the magnetic field. The magnets of headphones disturb the field.
  public var usesMagnetometer = false

  /// Initial standard deviation of the gyroscope bias, in degrees/s.
  public var biasSigmaInitial = 0.5
  /// Seconds in which the variance of the bias grows by (0.1 degrees/s)^2 if there are no
  /// measurements.
  public var biasForgettingTime = 100.0
  /// Largest bias on each axis, in degrees/s. A larger mean rate counts as motion.
  public var biasLimit = 2.0
  /// Standard deviation at which the estimate of the bias settles in motion, in degrees/s; 0
  /// disables the estimation in motion.
  public var biasSigmaMotion = 0.1
  /// Standard deviation at which the estimate of the bias settles at rest, in degrees/s; 0.03 in
  /// [1].
  public var biasSigmaRest = 0.01
  /// Weight (0 to 1) with which the vertical bias is pulled towards zero in motion, relative to the
  /// weight of the horizontal measurements.
  public var biasVerticalForgetting = 0.0001

  /// Seconds of almost constant rate and force before the sensor counts as at rest.
  public var restTime = 1.5
  /// Time constant of the low-pass filters for rest detection, in seconds; 0.5 in [1].
  public var restFilterTime = 1.0
  /// Largest deviation of the rate from its low-passed value at rest, in degrees/s.
  public var restRate = 2.0
  /// Largest deviation of the specific force from its low-passed value at rest, in m/s2.
  public var restForce = 0.5

  /// Time constant of the low-pass filter for the field's norm and dip angle, in seconds.
  public var magneticCurrentTime = 0.05
  /// Time constant with which the reference field follows an undisturbed field, in seconds.
  public var magneticReferenceTime = 20.0
  /// Largest difference in norm between an undisturbed field and the reference field, relative to
  /// the reference field.
  public var magneticNormTolerance = 0.1
  /// Largest difference in dip angle between an undisturbed field and the reference field, in
  /// degrees; 10 in [1].
  public var magneticDipTolerance = 7.0
  /// Seconds of motion after which a different but steady field becomes the reference field.
  public var magneticNewTime = 20.0
  /// Seconds of motion after which a steady field becomes the first reference field.
  public var magneticNewFirstTime = 5.0
  /// Lowest angular rate that counts as motion for `magneticNewTime` and `magneticNewFirstTime`, in
  /// degrees/s.
  public var magneticNewRate = 20.0
  /// Seconds for which the field must match the reference field before it counts as undisturbed.
  public var magneticUndisturbedTime = 0.5
  /// Time for which a disturbed field is ignored, in seconds.
  public var magneticRejectionTime = 60.0
  /// Factor by which the heading's correction gain is reduced if the field is still disturbed after
  /// `magneticRejectionTime`. Each second without a disturbance also reduces the counted duration
  /// of disturbances by this number of seconds.
  public var magneticRejectionFactor = 2.0

  /// The gyroscope's range on each axis, in degrees/s. While the rate on any axis is at or beyond
  /// 99.9 % of the range, the specific force is ignored.
  public var rateRange = Double.infinity
  /// The accelerometer's range on each axis, in m/s2. A force at or beyond the range is ignored.
  public var forceRange = 160.0

  public static let `default` = FusionSettings()

  public init() {}
}
