// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import Testing

@testable import HeadTracking

@Suite struct SampleClockTests {
  /// Arrivals of a regular tracker, in nanoseconds, late by up to `jitter`.
  private func errors(
    period: Double, jitter: Double, count: Int, isLost: (Int) -> Bool = { _ in false }
  ) -> [Double] {
    var noise = Noise(state: 7)
    var clock = SampleClock()
    var errors: [Double] = []
    for index in 0..<count where !isLost(index) {
      let truth = Double(index) * period
      let late = Double.random(in: 0...jitter, using: &noise)
      errors.append(Double(clock.stamp(Int64(truth + late))) - truth - jitter / 2)
    }
    return errors
  }

  private func spread(_ values: ArraySlice<Double>) -> Double {
    (values.map { $0 * $0 }.reduce(0, +) / Double(values.count)).squareRoot()
  }

  @Test(arguments: [1e6, 3.5e6, 10e6, 40e6])
  func takesTheJitterAway(period: Double) {
    let found = errors(period: period, jitter: 500_000, count: 2000)
    let spread = spread(found[200...])
    print("sample clock, interval \(period * 1e-6) ms: jitter 144 us in, \(spread * 1e-3) us out")
    #expect(spread < 60_000)
    #expect(found.dropFirst(20).allSatisfy { abs($0) < 350_000 })
  }

  @Test func lostSamplesDoNotMoveIt() {
    let found = errors(period: 10e6, jitter: 400_000, count: 2000) { $0 % 7 == 3 || $0 % 50 > 46 }
    #expect(spread(found[100...]) < 70_000)
  }

  @Test func timesRiseWhateverArrives() {
    var noise = Noise(state: 3)
    var clock = SampleClock()
    var arrival: Int64 = 0
    var last = Int64.min
    var rises = true
    for _ in 0..<5000 {
      let span: Int64 = [10, 1000, 1_000_000, 10_000_000, 400_000_000].randomElement(using: &noise)!
      arrival += Int64.random(in: 1...span, using: &noise)
      let stamp = clock.stamp(arrival)
      rises = rises && stamp > last
      last = stamp
    }
    #expect(rises)
  }

  @Test func followsAChangeOfRate() {
    var clock = SampleClock()
    var time: Int64 = 0
    for _ in 0..<200 {
      _ = clock.stamp(time)
      time += 10_000_000
    }
    for _ in 0..<60 {
      _ = clock.stamp(time)
      time += 40_000_000
    }
    #expect(abs(clock.interval - 40e6) < 1e5)
  }
}

/// The clock on the whole way of a pose, for trackers whose stamps are arrivals.
@Suite struct JitteringStampTests {
  /// A tone at the pole of an order-1 field turns with the pose: an rms deviation of a
  /// thousandth of a radian from an even turn is noise 60 dB below it.
  @Test(arguments: [50.0, 100, 250, 1000], [0.2, 0.5])
  func stampsThatJitterLeaveLittleNoise(rate: Double, jitter: Double) {
    let motion = { YawPitchRoll(yaw: max(0, $0 - 1) * 100).quaternion }
    for (lead, hasGyroscope) in [(0.0, true), (60, true), (60, false)] {
      var simulation = PoseSimulation(motion)
      simulation.rate = rate
      simulation.jitter = jitter
      simulation.lead = lead
      simulation.hasGyroscope = hasGyroscope
      simulation.seconds = 4
      let points = simulation.run().filter { $0.time > 2.5 }
      let errors = points.map { point in
        (motion(point.time + lead * 1e-3).conjugate * point.pose).rotationVector.z
      }
      let mean = errors.reduce(0, +) / Double(errors.count)
      let square = errors.map { ($0 - mean) * ($0 - mean) }.reduce(0, +) / Double(errors.count)
      let decibels = 10 * log10(square)
      print(
        "\(rate) Hz, stamps off by \(jitter) ms, \(lead) ms ahead, gyroscope \(hasGyroscope):",
        "rms \(square.squareRoot() * degreesPerRadian) degrees, \(decibels) dB")
      #expect(decibels < -60)
    }
  }
}
