// SPDX-License-Identifier: Apache-2.0

/// Detects whether the sensor is at rest (arXiv 2203.17024, section 3.5).
///
/// At rest, the rate and the force stay near their low-passed values, and the mean rate is small
/// enough to be a bias.
struct RestDetector: Sendable {
  private(set) var isAtRest: Bool
  /// The low-passed rate, in rad/s.
  private(set) var meanRate: SIMD3<Double>
  private var rates: VectorLowPass
  private var forces: VectorLowPass
  private var still: Double
  private let rateSquare: Double
  private let forceSquare: Double
  private let biasLimit: Double
  private let restTime: Double

  @_noLocks
  init(_ settings: FusionSettings) {
    let degree = Double.pi / 180
    isAtRest = false
    meanRate = SIMD3(0, 0, 0)
    rates = VectorLowPass(time: settings.restFilterTime)
    forces = VectorLowPass(time: settings.restFilterTime)
    still = 0
    rateSquare = settings.restRate * settings.restRate * degree * degree
    forceSquare = settings.restForce * settings.restForce
    biasLimit = settings.biasLimit * degree
    restTime = settings.restTime
  }

  /// Takes the next sample, with the rate in rad/s and the specific force in m/s2.
  @_noLocks
  mutating func update(rate: SIMD3<Double>, force: SIMD3<Double>, seconds: Double) {
    meanRate = rates.update(rate, seconds: seconds)
    let meanForce = forces.update(force, seconds: seconds)
    let rateOff = rate - meanRate
    let forceOff = force - meanForce
    let largest = Self.largest(meanRate)
    var isStill = (rateOff * rateOff).sum() < rateSquare
    if (forceOff * forceOff).sum() >= forceSquare { isStill = false }
    if largest > biasLimit { isStill = false }
    still = isStill ? still + seconds : 0
    isAtRest = still >= restTime
  }

  /// Resets the detector, so that the sensor counts as moving.
  @_noLocks
  mutating func restart() {
    rates.restart()
    forces.restart()
    still = 0
    isAtRest = false
  }

  @_noLocks
  private static func largest(_ v: SIMD3<Double>) -> Double {
    var result = v.x < 0 ? -v.x : v.x
    let y = v.y < 0 ? -v.y : v.y
    let z = v.z < 0 ? -v.z : v.z
    if y > result { result = y }
    return z > result ? z : result
  }
}
