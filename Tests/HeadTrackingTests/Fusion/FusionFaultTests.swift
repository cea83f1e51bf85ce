// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import TestSupport
import Testing

@testable import HeadTracking

/// Tests the orientation filter with faults of sensors, cables and clocks.
@Suite struct FusionFaultTests {
  private func isUnit(_ turn: Quaternion) -> Bool { abs(turn.squaredNorm - 1) < 1e-9 }

  @Test(arguments: 0..<20)
  func orientationStaysAUnitQuaternionForAnyInput(seed: Int) {
    var generator = SeededGenerator(UInt64(seed))
    var settings = FusionSettings()
    settings.usesMagnetometer = seed.isMultiple(of: 2)
    settings.rateRange = seed.isMultiple(of: 3) ? 250 : .infinity
    var filter = OrientationFilter(settings: settings)
    let extremes = [
      Double.nan, .infinity, -.infinity, 0, 1e300, -1e300, 1e-300, .greatestFiniteMagnitude, 99.99,
    ]
    func vector(_ scale: Double) -> SIMD3<Double> {
      var v = SIMD3.random(in: -scale...scale, using: &generator)
      if Int.random(in: 0..<4, using: &generator) == 0 {
        v[Int.random(in: 0..<3, using: &generator)] = extremes.randomElement(using: &generator) ?? 0
      }
      return v
    }
    var time: Int64 = 0
    for _ in 0..<3000 {
      switch Int.random(in: 0..<12, using: &generator) {
      case 0: time = .random(in: .min ... .max, using: &generator)
      case 1: time &+= .random(in: -3_700_000_000_000...3_700_000_000_000, using: &generator)
      case 2: time &-= .random(in: 0...20_000_000, using: &generator)
      case 3: break
      default: time &+= .random(in: 0...10_000_000, using: &generator)
      }
      filter.update(
        InertialSample(
          time: time, angularVelocity: vector(60), specificForce: vector(80),
          magneticField: Bool.random(using: &generator) ? vector(100) : nil))
      #expect(isUnit(filter.orientation))
      #expect(filter.angularVelocity.x.isFinite && filter.biasSigma.isFinite)
    }
  }

  /// Simulates a turn at 40 degrees/s about z, sampled at 100 Hz for four seconds; `edit` adds
  /// faults to the stream.
  private func turned(
    _ edit: ([InertialSample]) -> [InertialSample], bias: Double = 0
  ) -> (yaw: Double, filter: OrientationFilter) {
    let rate = SIMD3(0, 0, (40 + bias) * Double.pi / 180)
    let samples = (0...400).map { index in
      InertialSample(
        time: Int64(index) * 10_000_000, angularVelocity: rate, specificForce: SIMD3(0, 0, 9.81))
    }
    var filter = OrientationFilter()
    for sample in edit(samples) { filter.update(sample) }
    let turn = filter.orientation
    return (atan2(turn.z, turn.w) * 360 / .pi, filter)
  }

  private func difference(_ a: Double, _ b: Double) -> Double {
    abs((a - b).remainder(dividingBy: 360))
  }

  @Test func lostSamplesAreBridged() {
    let result = turned { samples in
      samples.enumerated().filter { $0.offset % 3 != 1 && !(200..<215).contains($0.offset) }
        .map(\.element)
    }
    #expect(difference(result.yaw, 160) < 0.5)
  }

  /// A stall delays the reports of 0.63 s, which are all stamped with the time they were read.
  @Test func burstAfterAStallKeepsTheHeading() {
    let result = turned { samples in
      samples.enumerated().map { index, sample in
        var sample = sample
        if (100..<163).contains(index) {
          sample.time = samples[163].time + Int64(index - 163) * 1000
        }
        return sample
      }
    }
    #expect(difference(result.yaw, 160) < 1)
  }

  @Test func outOfOrderSamplesAreRejected() {
    let result = turned { samples in
      var samples = samples
      for index in stride(from: 50, to: 350, by: 20) { samples.swapAt(index, index + 1) }
      return samples
    }
    #expect(difference(result.yaw, 160) < 1)
    #expect(result.filter.rejected == 15)
  }

  @Test(arguments: [3_600_000_000_000, -3_600_000_000_000, -4_294_967_296_000])
  func clockJumpDoesNotMoveTheHead(jump: Int64) {
    let result = turned { samples in
      samples.enumerated().map { index, sample in
        var sample = sample
        if index >= 200 { sample.time += jump }
        return sample
      }
    }
    #expect(difference(result.yaw, 160) < 1)
    #expect(inclinationError(result.filter.orientation, .identity) < 0.01)
  }

  @Test(arguments: [(1000.0, 25.0), (25.0, 1000.0)])
  func filterFollowsAChangeOfSampleRate(before: Double, after: Double) {
    var filter = OrientationFilter()
    let motion: (Double) -> Quaternion = { YawPitchRoll(yaw: 30 * sin($0), pitch: 20).quaternion }
    var time = 0.0
    var last = motion(0)
    while time < 20 {
      let step = 1 / (time < 10 ? before : after)
      time += step
      let truth = motion(time)
      filter.update(
        InertialSample(
          time: Int64(time * 1e9),
          angularVelocity: (last.conjugate * truth).rotationVector * (1 / step),
          specificForce: truth.conjugate.rotate(SIMD3(0, 0, 9.81))))
      last = truth
    }
    #expect(abs(filter.sampleInterval * after - 1) < 0.1)
    #expect(inclinationError(filter.orientation, last) < 0.2)
    #expect(abs(headingError(filter.orientation, last)) < 2)
  }

  @Test func inclinationRecoversAfterGyroscopeSaturation() {
    var settings = FusionSettings()
    settings.rateRange = 250
    var (filter, plain) = (OrientationFilter(settings: settings), OrientationFilter())
    let limit = 250 * Double.pi / 180
    var sensor = SimulatedSensor(
      rate: 200,
      motion: { time in
        let angle = time < 10 ? 0 : min(time - 10, 0.25) * 600
        return YawPitchRoll(yaw: 0, pitch: 0, roll: angle).quaternion
      })
    var (error, without) = (0.0, 0.0)
    for index in 0..<(12 * 200) {
      var (sample, truth) = sensor.sample(at: index)
      sample.angularVelocity.clamp(
        lowerBound: SIMD3(repeating: -limit), upperBound: SIMD3(repeating: limit))
      filter.update(sample)
      plain.update(sample)
      error = inclinationError(filter.orientation, truth)
      without = inclinationError(plain.orientation, truth)
    }
    #expect(error < 0.5)
    #expect(without > 5)
  }

  @Test func filterUsesTheGyroscopeIfTheAccelerometerFails() {
    let result = turned { samples in
      samples.enumerated().map { index, sample in
        var sample = sample
        let invalid = index.isMultiple(of: 2) ? SIMD3<Double>.zero : SIMD3(.nan, 0, 0)
        if index > 100 { sample.specificForce = invalid }
        return sample
      }
    }
    #expect(difference(result.yaw, 160) < 1)
    #expect(isUnit(result.filter.orientation))
  }
}
