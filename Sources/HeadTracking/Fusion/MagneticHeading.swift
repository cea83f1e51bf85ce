// SPDX-License-Identifier: Apache-2.0

import CRealtime

/// The heading from the magnetometer, with rejection of magnetic disturbances (arXiv 2203.17024,
/// sections 3.3 and 3.7).
///
/// The levelled almost-inertial frame is the almost-inertial frame of `OrientationFilter`, tilted
/// so that z points up.
struct MagneticHeading: Sendable {
  /// The angle of the rotation about z from the levelled almost-inertial frame to the earth's frame
  /// (x east, y north), in radians.
  private(set) var angle: Double
  /// Whether the field differs from the reference field or did so until recently; true if there is
  /// no reference field.
  private(set) var isDisturbed: Bool

  private var field: VectorLowPass
  private var referenceNorm: Double
  private var referenceDip: Double
  private var candidateNorm: Double
  private var candidateDip: Double
  private var candidateTime: Double
  private var undisturbedTime: Double
  private var rejectionTime: Double
  /// The minimum gain of the next update: `1/n` for update number `n`, until the usual gain is
  /// higher; then 0.
  private var firstGain: Double
  private let settings: FusionSettings

  @_noLocks
  init(_ settings: FusionSettings) {
    angle = 0
    isDisturbed = true
    field = VectorLowPass(time: settings.magneticCurrentTime)
    referenceNorm = 0
    referenceDip = 0
    candidateNorm = 0
    candidateDip = 0
    candidateTime = 0
    undisturbedTime = 0
    rejectionTime = settings.magneticRejectionTime
    firstGain = 1
    self.settings = settings
  }

  /// Takes the next field sample.
  ///
  /// - Parameters:
  ///   - horizontal: the field in the levelled almost-inertial frame (z up), in microtesla.
  ///   - rate: the sensor's low-passed angular rate, in rad/s.
  ///   - biasSigma: the standard deviation of the gyroscope's bias, in rad/s.
  ///   - seconds: the time since the previous sample.
  @_noLocks
  mutating func update(
    _ horizontal: SIMD3<Double>, rate: Double, biasSigma: Double, seconds: Double
  ) {
    let norm = realtime_sqrt((horizontal * horizontal).sum())
    guard norm > 1e-6 else { return }
    let flat = realtime_sqrt(horizontal.x * horizontal.x + horizontal.y * horizontal.y)
    let dip = -realtime_atan2(horizontal.z, flat)
    let smooth = field.update(SIMD3(norm, dip, 0), seconds: seconds)
    judge(norm: smooth.x, dip: smooth.y, rate: rate, seconds: seconds)
    let known = settings.magnetometerBiasSigma * .pi / 180
    let time =
      settings.magnetometerTime * (biasSigma > known ? known / biasSigma : 1)
    correct(towards: realtime_atan2(horizontal.x, horizontal.y), time: time, seconds: seconds)
  }

  /// Updates `isDisturbed`: compares the field with the reference field. A different field that
  /// stays steady during enough motion becomes the new reference field.
  @_noLocks
  private mutating func judge(norm: Double, dip: Double, rate: Double, seconds: Double) {
    let follow = 1 - realtime_exp(-seconds / settings.magneticReferenceTime)
    if isLike(norm, dip, referenceNorm, referenceDip) {
      undisturbedTime += seconds
      if undisturbedTime >= settings.magneticUndisturbedTime {
        isDisturbed = false
        referenceNorm += follow * (norm - referenceNorm)
        referenceDip += follow * (dip - referenceDip)
      }
    } else {
      undisturbedTime = 0
      isDisturbed = true
    }
    if isLike(norm, dip, candidateNorm, candidateDip) {
      if rate >= settings.magneticNewRate * .pi / 180 { candidateTime += seconds }
      candidateNorm += follow * (norm - candidateNorm)
      candidateDip += follow * (dip - candidateDip)
      let wanted =
        referenceNorm == 0 ? settings.magneticNewFirstTime : settings.magneticNewTime
      if isDisturbed, candidateTime >= wanted {
        referenceNorm = candidateNorm
        referenceDip = candidateDip
        isDisturbed = false
        undisturbedTime = settings.magneticUndisturbedTime
      }
    } else {
      candidateTime = 0
      candidateNorm = norm
      candidateDip = dip
    }
  }

  @_noLocks
  private func isLike(_ norm: Double, _ dip: Double, _ thatNorm: Double, _ thatDip: Double) -> Bool
  {
    let normOff = norm - thatNorm
    let dipOff = dip - thatDip
    let normLimit = settings.magneticNormTolerance * thatNorm
    let dipLimit = settings.magneticDipTolerance * .pi / 180
    if normOff > normLimit { return false }
    if normOff < -normLimit { return false }
    if dipOff > dipLimit { return false }
    return dipOff > -dipLimit
  }

  /// Moves `angle` towards `measured`. During a disturbance, moves it more slowly or not at all,
  /// except in the first updates.
  ///
  /// - Parameters:
  ///   - measured: the angle according to this field sample alone, in radians.
  ///   - time: the time constant, in seconds.
  ///   - seconds: the time since the previous sample.
  @_noLocks
  private mutating func correct(towards measured: Double, time: Double, seconds: Double) {
    var gain = 1 - realtime_exp(-seconds / time)
    if isDisturbed {
      if rejectionTime < settings.magneticRejectionTime {
        rejectionTime += seconds
        gain = 0
      } else {
        gain /= settings.magneticRejectionFactor
      }
    } else {
      let left = rejectionTime - settings.magneticRejectionFactor * seconds
      rejectionTime = left > 0 ? left : 0
    }
    if firstGain > 0 {
      if gain < firstGain { gain = firstGain }
      firstGain /= firstGain + 1
      if firstGain * time < seconds { firstGain = 0 }
    }
    angle = Self.wrapped(angle + gain * Self.wrapped(measured - angle))
  }

  @_noLocks
  private static func wrapped(_ angle: Double) -> Double {
    var angle = angle
    if angle > .pi { angle -= 2 * .pi }
    if angle < -.pi { angle += 2 * .pi }
    return angle
  }
}
