// SPDX-License-Identifier: Apache-2.0

/// What the orientation filter trusts, and for how long. One set of defaults serves 25 Hz to 1 kHz.
///
/// Quantities and defaults are those of [1] where nothing else is said. Rates and angles are in
/// degrees, since these numbers are read by people.
///
/// [1] D. Laidig, T. Seel, "VQF: Highly accurate IMU orientation estimation with bias estimation
/// and magnetic disturbance rejection", Information Fusion 91, 2023, arXiv 2203.17024.
public struct FusionSettings: Sendable, Equatable {
  /// Time constant of the low-pass on the specific force in the almost-inertial frame, seconds.
  public var accelerometerTime = 3.0
  /// Time constant with which the heading follows the magnetometer, seconds; 9 in [1]. Once the
  /// bias is known, the gyroscope may carry the heading for longer.
  public var magnetometerTime = 16.0
  /// Standard deviation of the bias up to which that holds, degrees/s; the time constant shrinks
  /// in inverse proportion beyond.
  public var magnetometerBiasSigma = 0.3
  /// Whether a sample's magnetic field is used at all. A headphone's own magnets disturb it, so
  /// the default is no.
  public var usesMagnetometer = false

  /// Standard deviation of the gyroscope bias before anything is known of it, degrees/s.
  public var biasSigmaInitial = 0.5
  /// Seconds in which the bias's standard deviation grows by 0.1 degrees/s.
  public var biasForgettingTime = 100.0
  /// No bias is larger in any axis, degrees/s; a larger one is taken for motion.
  public var biasLimit = 2.0
  /// Standard deviation that the bias settles at while the sensor moves, degrees/s; 0 turns
  /// the estimation in motion off.
  public var biasSigmaMotion = 0.1
  /// Standard deviation that the bias settles at while the sensor rests, degrees/s; 0.03 in [1].
  public var biasSigmaRest = 0.01
  /// How much weaker than the others a vertical rate is drawn to zero in motion, 0 to 1. It
  /// keeps what cannot be observed from wandering.
  public var biasVerticalForgetting = 0.0001

  /// Rest is that both sensors are as good as constant for so many seconds.
  public var restTime = 1.5
  /// Time constant of the low-passes that say what is constant, seconds; 0.5 in [1].
  public var restFilterTime = 1.0
  /// Deviation from the low-passed rate that is still rest, degrees/s.
  public var restRate = 2.0
  /// Deviation from the low-passed specific force that is still rest, m/s2.
  public var restForce = 0.5

  /// The magnetic field that is compared with the reference is low-passed so long, seconds.
  public var magneticCurrentTime = 0.05
  /// Time constant with which the reference follows an undisturbed field, seconds.
  public var magneticReferenceTime = 20.0
  /// Deviation from the reference's norm that is no disturbance, as a share of it.
  public var magneticNormTolerance = 0.1
  /// Deviation from the reference's dip angle that is no disturbance, degrees; 10 in [1].
  public var magneticDipTolerance = 7.0
  /// Seconds of one steady field while the sensor moves that make it the new reference.
  public var magneticNewTime = 20.0
  /// The same before there is a first reference.
  public var magneticNewFirstTime = 5.0
  /// Rate of turn that counts as moving there, degrees/s.
  public var magneticNewRate = 20.0
  /// Seconds that the field must be undisturbed before it is trusted again.
  public var magneticUndisturbedTime = 0.5
  /// A disturbance is rejected for so many seconds, then followed slowly.
  public var magneticRejectionTime = 60.0
  /// How much slower a disturbed field is followed then; also how much faster than it grew the
  /// time of rejection is given back.
  public var magneticRejectionFactor = 2.0

  /// Largest rate that the gyroscope can tell, degrees/s; a sample at it is saturated.
  public var rateRange = Double.infinity
  /// Largest specific force that the accelerometer can tell, m/s2.
  public var forceRange = 160.0

  public static let `default` = FusionSettings()

  public init() {}
}
