// SPDX-License-Identifier: Apache-2.0

/// The parameters of the orientation filter. One set of defaults serves sampling rates from 25 Hz
/// to 1 kHz.
///
/// Quantities and defaults are taken from [1] unless stated otherwise. Angles are in degrees and
/// rates in degrees/s, because people read these numbers.
///
/// [1] D. Laidig, T. Seel, "VQF: Highly accurate IMU orientation estimation with bias estimation
/// and magnetic disturbance rejection", Information Fusion 91, 2023, arXiv 2203.17024.
public struct FusionSettings: Sendable, Equatable {
  /// Time constant of the low-pass filter for the specific force, in seconds. The filter works in
  /// the almost-inertial frame, which results from integrating the gyroscope.
  public var accelerometerTime = 3.0
  /// Time constant with which the heading follows the magnetometer, in seconds; 9 in [1]. Once the
  /// bias is known, the gyroscope can carry the heading for longer.
  public var magnetometerTime = 16.0
  /// Standard deviation of the bias up to which `magnetometerTime` applies, in degrees/s. Above it,
  /// the time constant shrinks in inverse proportion.
  public var magnetometerBiasSigma = 0.3
  /// Whether the filter uses the magnetic field. The default is false, because the magnets of
  /// headphones disturb the field.
  public var usesMagnetometer = false

  /// Initial standard deviation of the gyroscope bias, in degrees/s.
  public var biasSigmaInitial = 0.5
  /// Seconds in which the variance of the bias grows by (0.1 degrees/s)^2.
  public var biasForgettingTime = 100.0
  /// Largest bias per axis, in degrees/s; a larger mean rate counts as motion.
  public var biasLimit = 2.0
  /// Standard deviation to which the estimate of the bias settles while the sensor moves, in
  /// degrees/s; 0 disables the estimation in motion.
  public var biasSigmaMotion = 0.1
  /// Standard deviation to which the estimate of the bias settles while the sensor rests, in
  /// degrees/s; 0.03 in [1].
  public var biasSigmaRest = 0.01
  /// Weight with which the vertical component of the bias is pulled towards zero in motion, as a
  /// fraction (0 to 1) of the weight of the horizontal measurements. It prevents this unobservable
  /// component from drifting.
  public var biasVerticalForgetting = 0.0001

  /// Seconds for which gyroscope and accelerometer must be almost constant before the sensor counts
  /// as at rest.
  public var restTime = 1.5
  /// Time constant of the low-pass filters for rest detection, in seconds; 0.5 in [1].
  public var restFilterTime = 1.0
  /// Largest deviation of the rate from its low-passed value at rest, in degrees/s.
  public var restRate = 2.0
  /// Largest deviation of the specific force from its low-passed value at rest, in m/s2.
  public var restForce = 0.5

  /// Time constant of the low-pass filter for the magnetic field, in seconds. The filtered field is
  /// compared with the reference field.
  public var magneticCurrentTime = 0.05
  /// Time constant with which the reference field follows an undisturbed field, in seconds.
  public var magneticReferenceTime = 20.0
  /// Largest difference between the norms of an undisturbed field and the reference field, as a
  /// fraction of the norm of the reference field.
  public var magneticNormTolerance = 0.1
  /// Largest difference between the dip angles of an undisturbed field and the reference field, in
  /// degrees; 10 in [1].
  public var magneticDipTolerance = 7.0
  /// Seconds in motion for which a different field must stay steady to become the new reference
  /// field.
  public var magneticNewTime = 20.0
  /// Seconds in motion for which a field must stay steady to become the first reference field.
  public var magneticNewFirstTime = 5.0
  /// Angular rate that counts as motion for `magneticNewTime` and `magneticNewFirstTime`, in
  /// degrees/s.
  public var magneticNewRate = 20.0
  /// Seconds for which the field must match the reference field before it counts as undisturbed.
  public var magneticUndisturbedTime = 0.5
  /// Seconds for which a disturbed field is ignored. After that, the heading follows the field
  /// slowly.
  public var magneticRejectionTime = 60.0
  /// Factor by which the heading follows a field more slowly if the field is still disturbed after
  /// `magneticRejectionTime`. In addition, each second of an undisturbed field restores this many
  /// seconds of `magneticRejectionTime`.
  public var magneticRejectionFactor = 2.0

  /// The gyroscope's measuring range, in degrees/s. A rate close to or beyond the limit counts as
  /// saturated. Infinite by default.
  public var rateRange = Double.infinity
  /// The accelerometer's measuring range, in m/s2. A specific force at or beyond the limit is
  /// ignored.
  public var forceRange = 160.0

  public static let `default` = FusionSettings()

  public init() {}
}
