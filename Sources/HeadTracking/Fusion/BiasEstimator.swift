// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Geometry

/// Estimates the gyroscope's bias and its uncertainty with a Kalman filter (arXiv 2203.17024,
/// section 3.6).
///
/// The three measurements of a step have independent noise, so they are applied one after the
/// other.
struct BiasEstimator: Sendable {
  /// The estimated bias in the sensor's frame, in rad/s.
  private(set) var bias: SIMD3<Double>
  /// The columns of the covariance matrix, in (rad/s)^2.
  private var columns: (SIMD3<Double>, SIMD3<Double>, SIMD3<Double>)
  private var rows: (VectorLowPass, VectorLowPass, VectorLowPass)
  private var earthBias: VectorLowPass

  private let initialVariance: Double
  private let growth: Double
  private let motionVariance: Double
  private let restVariance: Double
  private let verticalForgetting: Double
  private let limit: Double

  @_noLocks
  init(_ settings: FusionSettings) {
    let degree = Double.pi / 180
    let initial = settings.biasSigmaInitial * degree
    bias = SIMD3(0, 0, 0)
    initialVariance = initial * initial
    columns = Self.diagonal(initial * initial)
    let filter = VectorLowPass(time: settings.accelerometerTime)
    rows = (filter, filter, filter)
    earthBias = filter
    growth = 0.01 * degree * degree / settings.biasForgettingTime
    let motion = settings.biasSigmaMotion * degree
    let rest = settings.biasSigmaRest * degree
    motionVariance = motion * motion
    restVariance = rest * rest
    verticalForgetting = settings.biasVerticalForgetting
    limit = settings.biasLimit * degree
  }

  /// An upper bound on the standard deviation of the bias in any direction, in rad/s.
  var sigma: Double {
    @_noLocks get {
      let (x, y, z) = columns
      var largest = Self.absoluteSum(x)
      let second = Self.absoluteSum(y)
      let third = Self.absoluteSum(z)
      if second > largest { largest = second }
      if third > largest { largest = third }
      return realtime_sqrt(largest)
    }
  }

  /// Sets the bias and its standard deviation, in rad/s. Limits each component of the bias to the
  /// settings' `biasLimit`, and the standard deviation to its initial value.
  @_noLocks
  mutating func seed(_ bias: SIMD3<Double>, sigma: Double) {
    self.bias = Self.clipped(bias, limit)
    let variance = sigma * sigma
    columns = Self.diagonal(variance < initialVariance ? variance : initialVariance)
  }

  /// Increases the variance of the bias on each axis, because the bias may have drifted. A variance
  /// that has reached its initial value does not grow further.
  @_noLocks
  mutating func age(seconds: Double) {
    let more = growth * seconds
    if columns.0.x < initialVariance { columns.0.x += more }
    if columns.1.y < initialVariance { columns.1.y += more }
    if columns.2.z < initialVariance { columns.2.z += more }
  }

  /// Updates the bias from the mean rate at rest, in rad/s.
  @_noLocks
  mutating func updateAtRest(meanRate: SIMD3<Double>, seconds: Double) {
    let noise = Self.measurementVariance(restVariance, growth * seconds)
    let off = Self.clipped(meanRate - bias, limit)
    let start = bias
    take(off.x, SIMD3(1, 0, 0), noise, from: start)
    take(off.y, SIMD3(0, 1, 0), noise, from: start)
    take(off.z, SIMD3(0, 0, 1), noise, from: start)
    bias = Self.clipped(bias, limit)
  }

  /// Updates the bias from the correction of the inclination while the sensor moves.
  ///
  /// - Parameters:
  ///   - correction: the angular velocity, about the horizontal axes x and y, that the correction
  ///     of the inclination cancels, in rad/s.
  ///   - sensorToEarth: the orientation, without the heading from the magnetometer.
  ///   - seconds: the time since the previous sample.
  @_noLocks
  mutating func updateInMotion(
    correction: SIMD2<Double>, sensorToEarth: Quaternion, seconds: Double
  ) {
    let now = RotationMatrix(sensorToEarth)
    var passed = earthBias.update(now.rotate(bias), seconds: seconds)
    let x = rows.0.update(now.x, seconds: seconds)
    let y = rows.1.update(now.y, seconds: seconds)
    let z = rows.2.update(now.z, seconds: seconds)
    guard motionVariance > 0 else { return }
    passed = SIMD3(
      correction.x + passed.x - (x * bias).sum(), correction.y + passed.y - (y * bias).sum(),
      -(z * bias).sum())
    let off = Self.clipped(passed, limit)
    let noise = Self.measurementVariance(motionVariance, growth * seconds)
    let start = bias
    take(off.x, x, noise, from: start)
    take(off.y, y, noise, from: start)
    take(off.z, z, noise / verticalForgetting, from: start)
    bias = Self.clipped(bias, limit)
  }

  /// Keeps the low-pass filters of `updateInMotion` up to date while the sensor is at rest.
  @_noLocks
  mutating func follow(sensorToEarth: Quaternion, seconds: Double) {
    let now = RotationMatrix(sensorToEarth)
    _ = earthBias.update(now.rotate(bias), seconds: seconds)
    _ = rows.0.update(now.x, seconds: seconds)
    _ = rows.1.update(now.y, seconds: seconds)
    _ = rows.2.update(now.z, seconds: seconds)
  }

  /// Resets the low-pass filters of `updateInMotion`.
  @_noLocks
  mutating func restartMotion() {
    earthBias.restart()
    rows.0.restart()
    rows.1.restart()
    rows.2.restart()
  }

  /// Applies one measurement: `offset` is the measured value of the scalar product
  /// (true bias - `start`) * `direction`.
  @_noLocks
  private mutating func take(
    _ offset: Double, _ direction: SIMD3<Double>, _ variance: Double, from start: SIMD3<Double>
  ) {
    let (x, y, z) = columns
    let spread = x * direction.x + y * direction.y + z * direction.z
    let scale = 1 / ((spread * direction).sum() + variance)
    let rest = offset - (direction * (bias - start)).sum()
    bias += spread * (rest * scale)
    columns = (
      x - spread * (spread.x * scale), y - spread * (spread.y * scale),
      z - spread * (spread.z * scale)
    )
  }

  /// Returns the measurement variance with which the variance of the bias settles at `settled` if
  /// it grows by `growth` per step; `settled` if `growth` is 0.
  @_noLocks
  private static func measurementVariance(_ settled: Double, _ growth: Double) -> Double {
    growth > 0 ? settled * settled / growth + settled : settled
  }

  @_noLocks
  private static func diagonal(
    _ value: Double
  ) -> (SIMD3<Double>, SIMD3<Double>, SIMD3<Double>) {
    (SIMD3(value, 0, 0), SIMD3(0, value, 0), SIMD3(0, 0, value))
  }

  @_noLocks
  private static func clipped(_ v: SIMD3<Double>, _ limit: Double) -> SIMD3<Double> {
    SIMD3(clipped(v.x, limit), clipped(v.y, limit), clipped(v.z, limit))
  }

  @_noLocks
  private static func clipped(_ value: Double, _ limit: Double) -> Double {
    if value > limit { return limit }
    return value < -limit ? -limit : value
  }

  @_noLocks
  private static func absoluteSum(_ v: SIMD3<Double>) -> Double {
    (v.x < 0 ? -v.x : v.x) + (v.y < 0 ? -v.y : v.y) + (v.z < 0 ? -v.z : v.z)
  }
}
