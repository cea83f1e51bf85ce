// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import TestSupport
import Testing

@testable import HeadTracking

@Suite struct OrientationFilterTests {
  private let degree = Double.pi / 180

  /// Runs the filter; returns the largest errors from `start` on, and the filter at the end.
  private func run(
    _ sensor: SimulatedSensor, seconds: Double, from start: Double,
    _ filter: OrientationFilter = OrientationFilter()
  ) -> (inclination: Double, heading: Double, filter: OrientationFilter) {
    var (sensor, filter) = (sensor, filter)
    var (inclination, heading) = (0.0, 0.0)
    for index in 0..<Int(seconds * sensor.rate) {
      let (sample, truth) = sensor.sample(at: index)
      filter.update(sample)
      guard Double(index) / sensor.rate >= start else { continue }
      inclination = max(inclination, inclinationError(filter.orientation, truth))
      heading = max(heading, abs(headingError(filter.orientation, truth)))
    }
    return (inclination, heading, filter)
  }

  @Test(arguments: [25.0, 50, 100, 285.7, 1000])
  func followsAMovingHeadAtAnyRate(rate: Double) {
    let sensor = SimulatedSensor(
      rate: rate, bias: SIMD3(0.5, -0.3, 0.4), rateNoise: 0.05, forceNoise: 0.02,
      motion: SimulatedSensor.lookingAround(after: 8))
    let result = run(sensor, seconds: 68, from: 8)
    #expect(result.inclination < 0.3)
    #expect(result.heading < 3)
    let biasError = result.filter.gyroBias - sensor.bias * degree
    #expect((biasError * biasError).sum().squareRoot() < 0.03 * degree)
  }

  @Test func estimatesTheBiasAtRest() {
    let sensor = SimulatedSensor(bias: SIMD3(1, -0.8, 0.6), rateNoise: 0.1, forceNoise: 0.02)
    let before = OrientationFilter().biasSigma
    let filter = run(sensor, seconds: 6, from: 6).filter
    #expect(filter.isAtRest)
    let biasError = filter.gyroBias - sensor.bias * degree
    #expect((biasError * biasError).sum().squareRoot() < 0.02 * degree)
    #expect(filter.biasSigma < before / 5)
    #expect((filter.angularVelocity * filter.angularVelocity).sum().squareRoot() < 0.5 * degree)
  }

  @Test func estimatesTheBiasInMotion() {
    let motion: (Double) -> Quaternion = { time in
      YawPitchRoll(yaw: 0, pitch: 40 * sin(1.1 * time), roll: 70 * sin(0.8 * time)).quaternion
    }
    let sensor = SimulatedSensor(
      bias: SIMD3(0.8, -0.6, 0.7), rateNoise: 0.05, forceNoise: 0.02, motion: motion)
    let filter = run(sensor, seconds: 120, from: 120).filter
    #expect(!filter.isAtRest)
    let biasError = filter.gyroBias - sensor.bias * degree
    // The bias about the vertical is observable only as far as the head leans.
    #expect(abs(biasError.x) < 0.15 * degree && abs(biasError.y) < 0.15 * degree)
    #expect(abs(biasError.z) < 0.4 * degree)
    #expect((biasError * biasError).sum().squareRoot() < 2 * filter.biasSigma)
  }

  @Test func seededBiasNeedsNoRest() {
    let motion = SimulatedSensor.lookingAround(after: 0)
    let sensor = SimulatedSensor(bias: SIMD3(1, -1, 1.5), motion: motion)
    var filter = OrientationFilter()
    filter.seedBias(sensor.bias * degree, sigma: 0.01 * degree)
    let seeded = run(sensor, seconds: 10, from: 0, filter)
    #expect(seeded.heading < 0.5)
    #expect(run(sensor, seconds: 10, from: 0).heading > 3)
  }

  @Test func inclinationIsCorrectFromTheFirstSample() {
    var random = SeededGenerator.forTest()
    for _ in 0..<50 {
      let attitude = Quaternion(rotationVector: SIMD3.random(in: -2...2, using: &random))
      let sensor = SimulatedSensor(motion: { _ in attitude })
      let result = run(sensor, seconds: 0.1, from: 0)
      #expect(result.inclination < 1e-4)
    }
  }

  @Test func headingFollowsTheMagnetometer() {
    var settings = FusionSettings()
    settings.usesMagnetometer = true
    let start = YawPitchRoll(yaw: 130).quaternion
    let look = SimulatedSensor.lookingAround(after: 5)
    let sensor = SimulatedSensor(
      bias: SIMD3(0.2, 0.1, 0.3), rateNoise: 0.05, forceNoise: 0.02, motion: { start * look($0) })
    let result = run(sensor, seconds: 60, from: 20, OrientationFilter(settings: settings))
    #expect(result.heading < 1.5)
    #expect(!result.filter.isMagneticallyDisturbed)
  }

  @Test func nearbyMagnetDoesNotTurnTheHeading() {
    var settings = FusionSettings()
    settings.usesMagnetometer = true
    var sensor = SimulatedSensor(
      rateNoise: 0.05, forceNoise: 0.02, motion: SimulatedSensor.lookingAround(after: 3))
    var filter = OrientationFilter(settings: settings)
    var worst = 0.0
    for index in 0..<(50 * 200) {
      if index == 30 * 200 { sensor.field = SIMD3(35, 5, -10) }
      let (sample, truth) = sensor.sample(at: index)
      filter.update(sample)
      guard index > 30 * 200 else { continue }
      worst = max(worst, abs(headingError(filter.orientation, truth)))
    }
    #expect(filter.isMagneticallyDisturbed)
    #expect(worst < 2)
  }
}
