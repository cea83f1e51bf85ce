// SPDX-License-Identifier: Apache-2.0

import CRealtime
public import Geometry

/// Estimates an inertial sensor's orientation from its raw samples.
///
/// Integrating the angular velocity gives the orientation in an almost-inertial frame. The specific
/// force, low-passed in that frame, gives the frame's inclination. The magnetic field can correct
/// the heading. The method is VQF (D. Laidig, T. Seel, Information Fusion 91, 2023, arXiv
/// 2203.17024) with the differences in docs/orientation-filter.md.
///
/// For any input, `orientation` is a finite unit quaternion.
///
/// ## Threading
/// Use a filter on one thread at a time. `update` is real-time safe.
public struct OrientationFilter: Sendable {
  public let settings: FusionSettings
  /// Angular velocity in the sensor's frame, in rad/s, with the estimated bias removed.
  public private(set) var angularVelocity: SIMD3<Double>
  /// The number of samples that were ignored because of their time or their angular velocity.
  public private(set) var rejected: Int

  private var spacing: SampleSpacing
  private var rest: RestDetector
  private var estimator: BiasEstimator
  private var magnetic: MagneticHeading
  private var forces: VectorLowPass
  /// The rotation from the sensor's frame to the almost-inertial frame.
  private var strapdown: Quaternion
  /// The rotation from the almost-inertial frame to a frame whose z axis points up.
  private var inclination: Quaternion
  private var lastRate: SIMD3<Double>
  private var rateBeforeGap: SIMD3<Double>
  private var isSaturated: Bool
  private var hasForce: Bool

  /// Upper limit for a plausible angular velocity on each axis, in rad/s.
  private static var largestRate: Double { @_noLocks get { 100.0 } }
  /// Upper limit for a plausible specific force on each axis, in m/s2.
  private static var largestForce: Double { @_noLocks get { 1000.0 } }
  /// Lower limit for the norm of a usable specific force, in m/s2.
  private static var smallestForce: Double { @_noLocks get { 0.5 } }

  public init(settings: FusionSettings = FusionSettings()) {
    self.settings = settings
    angularVelocity = SIMD3(0, 0, 0)
    rejected = 0
    spacing = SampleSpacing()
    rest = RestDetector(settings)
    estimator = BiasEstimator(settings)
    magnetic = MagneticHeading(settings)
    forces = VectorLowPass(time: settings.accelerometerTime)
    strapdown = Quaternion(w: 1, x: 0, y: 0, z: 0)
    inclination = Quaternion(w: 1, x: 0, y: 0, z: 0)
    lastRate = SIMD3(0, 0, 0)
    rateBeforeGap = SIMD3(0, 0, 0)
    isSaturated = false
    hasForce = false
  }

  // MARK: Results

  /// The rotation from the sensor's frame to an earth frame with z up. With the magnetometer, x
  /// points east once a field has been measured. Otherwise, the direction of x is arbitrary.
  public var orientation: Quaternion {
    @_noLocks get {
      let level = inclination * strapdown
      if !settings.usesMagnetometer { return level.normalized }
      let half = magnetic.angle / 2
      let turn = Quaternion(w: realtime_cos(half), x: 0, y: 0, z: realtime_sin(half))
      return (turn * level).normalized
    }
  }

  /// The estimated gyroscope bias in the sensor's frame, in rad/s.
  public var gyroBias: SIMD3<Double> {
    @_noLocks get { estimator.bias }
  }

  /// An upper bound on the standard deviation of the bias, in rad/s.
  public var biasSigma: Double {
    @_noLocks get { estimator.sigma }
  }

  /// Whether the sensor has been still for at least `FusionSettings.restTime`.
  public var isAtRest: Bool {
    @_noLocks get { rest.isAtRest }
  }

  /// Whether the magnetic field differs from the reference field or did so until recently; true if
  /// there is no reference field.
  public var isMagneticallyDisturbed: Bool {
    @_noLocks get { magnetic.isDisturbed }
  }

  /// The usual interval between samples, in seconds; 0 until it is known.
  public var sampleInterval: Double {
    @_noLocks get { spacing.interval }
  }

  /// Sets the estimated bias to a known value. Does nothing if an argument is invalid.
  ///
  /// - Parameters:
  ///   - bias: the bias in the sensor's frame, in rad/s.
  ///   - sigma: the standard deviation of the bias, in rad/s; it must be positive.
  @_noLocks
  public mutating func seedBias(_ bias: SIMD3<Double>, sigma: Double = 0.0017) {
    guard Self.isFinite(bias, below: Self.largestRate), sigma > 0 else { return }
    estimator.seed(bias, sigma: sigma)
  }

  // MARK: A sample

  /// Updates the orientation with the next sample. Invalid samples, forces and fields are ignored.
  @_noLocks
  public mutating func update(_ sample: InertialSample) {
    guard Self.isFinite(sample.angularVelocity, below: Self.largestRate) else {
      rejected += 1
      return
    }
    let step = spacing.advance(to: sample.time)
    guard !step.isStale else {
      rejected += 1
      return
    }
    if step.isBreak { interrupt() }
    integrate(sample.angularVelocity, step)
    estimator.age(seconds: step.seconds)
    let force = sample.specificForce
    if isUsable(force), !isSaturated {
      correct(rate: sample.angularVelocity, force: force, seconds: step.seconds)
    }
    if settings.usesMagnetometer, hasForce, let field = sample.magneticField {
      guard Self.isFinite(field, below: 1e4) else { return }
      let turning = realtime_sqrt((rest.meanRate * rest.meanRate).sum())
      magnetic.update(
        (inclination * strapdown).rotate(field), rate: turning, biasSigma: estimator.sigma,
        seconds: step.seconds)
    }
  }

  /// Integrates the rate and bridges missed samples.
  @_noLocks
  private mutating func integrate(_ measured: SIMD3<Double>, _ step: SampleSpacing.Step) {
    let rate = measured - estimator.bias
    noteSaturation(measured)
    if step.missedSeconds > 0 {
      let bridged = step.missedSeconds < 0.25 ? step.missedSeconds : 0.25
      strapdown =
        strapdown * Quaternion(rotationVector: (rateBeforeGap + lastRate) * (0.5 * bridged))
    }
    if step.seconds > 0 {
      let turn = rate * step.seconds
      strapdown = (strapdown * Quaternion(rotationVector: turn)).normalized
      rateBeforeGap = lastRate
    }
    lastRate = rate
    angularVelocity = rate
  }

  /// Updates `isSaturated`. When the gyroscope is no longer saturated, resets the low-pass filters
  /// and the rest detector, because the almost-inertial frame has turned in the meantime.
  @_noLocks
  private mutating func noteSaturation(_ rate: SIMD3<Double>) {
    let limit = settings.rateRange * 0.999 * Double.pi / 180
    let wasSaturated = isSaturated
    isSaturated = !Self.isFinite(rate, below: limit)
    if wasSaturated, !isSaturated {
      forces.restart()
      estimator.restartMotion()
      rest.restart()
    }
  }

  @_noLocks
  private func isUsable(_ force: SIMD3<Double>) -> Bool {
    guard Self.isFinite(force, below: Self.largestForce) else { return false }
    guard Self.isFinite(force, below: settings.forceRange) else { return false }
    return (force * force).sum() > Self.smallestForce * Self.smallestForce
  }

  /// Corrects the inclination from the specific force, and updates the bias.
  @_noLocks
  private mutating func correct(rate: SIMD3<Double>, force: SIMD3<Double>, seconds: Double) {
    rest.update(rate: rate, force: force, seconds: seconds)
    hasForce = true
    let smooth = forces.update(strapdown.rotate(force), seconds: seconds)
    let up = inclination.rotate(smooth)
    let norm = realtime_sqrt((up * up).sum())
    guard norm > 1e-3 else { return }
    let (x, y, z) = (up.x / norm, up.y / norm, up.z / norm)
    inclination = (Self.turnUp(x, y, z) * inclination).normalized
    guard seconds > 1e-5 else { return }
    let level = inclination * strapdown
    if rest.isAtRest {
      estimator.follow(sensorToEarth: level, seconds: seconds)
      estimator.updateAtRest(meanRate: rest.meanRate, seconds: seconds)
    } else {
      estimator.updateInMotion(
        correction: SIMD2(-y / seconds, x / seconds), sensorToEarth: level, seconds: seconds)
    }
  }

  /// Returns the shortest rotation from a unit vector to the z axis.
  @_noLocks
  private static func turnUp(_ x: Double, _ y: Double, _ z: Double) -> Quaternion {
    let half = (z + 1) / 2
    guard half > 1e-12 else { return Quaternion(w: 0, x: 1, y: 0, z: 0) }
    let w = realtime_sqrt(half)
    return Quaternion(w: w, x: 0.5 * y / w, y: -0.5 * x / w, z: 0)
  }

  /// Forgets the recent motion after a break. Changes neither the orientation nor the bias.
  @_noLocks
  private mutating func interrupt() {
    forces.restart()
    estimator.restartMotion()
    rest.restart()
    lastRate = SIMD3(0, 0, 0)
    rateBeforeGap = SIMD3(0, 0, 0)
  }

  /// Returns whether each component is between `-limit` and `limit`.
  @_noLocks
  private static func isFinite(_ v: SIMD3<Double>, below limit: Double) -> Bool {
    guard v.x < limit, v.x > -limit, v.y < limit, v.y > -limit else { return false }
    guard v.z < limit else { return false }
    return v.z > -limit
  }
}
