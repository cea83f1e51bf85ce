// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import TestSupport
import Testing

@testable import HeadTracking

@Suite struct SampleClockTests {
  /// Returns the errors of the stamps, in nanoseconds, for a regular tracker whose samples arrive
  /// up to `jitter` late.
  private func errors(
    period: Double, jitter: Double, count: Int, isLost: (Int) -> Bool = { _ in false }
  ) -> [Double] {
    var noise = SeededGenerator(7)
    var clock = SampleClock()
    var errors: [Double] = []
    for index in 0..<count where !isLost(index) {
      let truth = Double(index) * period
      let late = Double.random(in: 0...jitter, using: &noise)
      errors.append(Double(clock.stamp(Int64(truth + late))) - truth - jitter / 2)
    }
    return errors
  }

  /// The deviations from the mean error. A constant error is irrelevant: it is the transport's
  /// delay.
  private func deviations(_ values: ArraySlice<Double>) -> [Double] {
    let mean = values.reduce(0, +) / Double(values.count)
    return values.map { $0 - mean }
  }

  private func spread(_ values: ArraySlice<Double>) -> Double {
    (deviations(values).map { $0 * $0 }.reduce(0, +) / Double(values.count)).squareRoot()
  }

  @Test(arguments: [1e6, 3.5e6, 10e6, 40e6])
  func stampsHaveLessJitterThanArrivals(period: Double) {
    let found = errors(period: period, jitter: 500_000, count: 2000)
    let spread = spread(found[200...])
    print("sample clock, interval \(period * 1e-6) ms: jitter 144 us in, \(spread * 1e-3) us out")
    #expect(spread < 60_000)
    #expect(deviations(found[200...]).allSatisfy { abs($0) < 250_000 })
    // The clock learns meanwhile how early the earliest samples are.
    #expect(found[20...].allSatisfy { $0 > -800_000 && $0 < 350_000 })
  }

  @Test func lostSamplesDoNotShiftTheClock() {
    let found = errors(period: 10e6, jitter: 400_000, count: 2000) { $0 % 7 == 3 || $0 % 50 > 46 }
    #expect(spread(found[100...]) < 70_000)
  }

  @Test func stampsAlwaysIncrease() {
    var noise = SeededGenerator(3)
    var clock = SampleClock()
    var arrival: Int64 = 0
    var last = Int64.min
    var isIncreasing = true
    for _ in 0..<5000 {
      let span: Int64 = [10, 1000, 1_000_000, 10_000_000, 400_000_000].randomElement(using: &noise)!
      arrival += Int64.random(in: 1...span, using: &noise)
      let stamp = clock.stamp(arrival)
      isIncreasing = isIncreasing && stamp > last
      last = stamp
    }
    #expect(isIncreasing)
  }

  @Test("After a burst of samples that had waited, the interval is that of the tracker again")
  func recoversFromABurst() {
    for burst in [20, 200] {
      var clock = SampleClock()
      var time: Int64 = 0
      for _ in 0..<burst {
        _ = clock.stamp(time)
        time += 1000
      }
      for _ in 0..<100 {
        time += 20_000_000
        _ = clock.stamp(time)
      }
      #expect(abs(clock.interval - 20e6) < 1e5, "\(clock.interval)")
    }
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

  /// Returns the errors of the stamps for a tracker whose samples arrive `late(index)` after they
  /// were taken, in nanoseconds; the default interval is that of 100 Hz. Of the samples that a
  /// stalled reader finds together, only the newest is used. `isFuture` is true if a stamp was
  /// after its arrival.
  private func network(
    _ count: Int, interval: (Int) -> Double = { _ in 10e6 }, late: (Int) -> Double
  ) -> (errors: [Double], isFuture: Bool) {
    var clock = SampleClock()
    var taken = 0.0
    var samples: [(taken: Double, arrival: Double)] = []
    for index in 0..<count {
      let arrival = max(taken + 1e6 + late(index), samples.last?.arrival ?? 0)
      if let last = samples.last, arrival - last.arrival < 20_000 { samples.removeLast() }
      samples.append((taken, arrival))
      taken += interval(index)
    }
    var (errors, isFuture) = ([Double](), false)
    for sample in samples {
      let stamp = clock.stamp(Int64(sample.arrival))
      isFuture = isFuture || stamp > Int64(sample.arrival)
      errors.append(Double(stamp) - sample.taken)
    }
    return (errors, isFuture)
  }

  /// On a busy machine, one sample in thirty is late by up to most of an interval.
  @Test func lateArrivalsDoNotShiftTheStamps() {
    var noise = SeededGenerator(11)
    let (errors, isFuture) = network(3000) { _ in
      noise.unit() * 2e5 + (noise.unit() < 0.033 ? noise.unit() * 8.5e6 : 0)
    }
    #expect(!isFuture)
    #expect(deviations(errors[200...]).allSatisfy { abs($0) < 200_000 })
  }

  /// The reader stalls for up to 10 ms, twice per second; then only the newest sample is used.
  @Test func readerStallsDoNotShiftTheStamps() {
    var noise = SeededGenerator(12)
    var end = 0.0
    let (errors, isFuture) = network(3000) { index in
      let taken = Double(index) * 10e6
      if noise.unit() < 0.02 { end = taken + 1e6 + noise.unit() * 9e6 }
      return max(noise.unit() * 1e5, end - taken - 1e6)
    }
    #expect(!isFuture)
    #expect(spread(errors[200...]) < 100_000)
  }

  /// No jitter puts a stamp after the arrival, and the stamps follow the earliest arrivals.
  @Test(arguments: [0.2e6, 1e6, 3e6])
  func stampsNeverExceedTheArrivalTime(jitter: Double) {
    var noise = SeededGenerator(13)
    let (errors, isFuture) = network(4000) { _ in max(0, 3 * jitter + noise.vector().x * jitter) }
    let mean = errors[300...].reduce(0, +) / Double(errors.count - 300)
    print("normal jitter of \(jitter * 1e-6) ms: \(spread(errors[300...]) * 1e-6) ms out")
    #expect(!isFuture)
    #expect(mean < 1e6 + 3 * jitter)
    #expect(spread(errors[300...]) < (jitter < 2e6 ? 0.35 : 0.9) * jitter)
  }

  /// The clock follows another rate, a pause, and a shift by a fraction of an interval within one
  /// second.
  @Test(arguments: [(12.5e6, 0.0), (8e6, 0), (10e6, 2e9), (10e6, 4e6)])
  func clockAdaptsToChangesWithinASecond(interval: Double, pause: Double) {
    var noise = SeededGenerator(14)
    let (errors, isFuture) = network(
      900, interval: { $0 < 500 ? 10e6 : $0 == 500 ? interval + pause : interval },
      late: { _ in noise.unit() * 3e5 })
    #expect(!isFuture)
    let later = 500 + Int(1e9 / interval)
    #expect(errors[later...].allSatisfy { abs($0 - 1e6) < 600_000 })
  }
}

/// Tests the sample clock in the complete path of a pose, for trackers whose stamps are arrival
/// times.
@Suite struct JitteringStampTests {
  /// A tone at the pole of an order-1 field rotates with the pose: an rms deviation of a thousandth
  /// of a radian from uniform rotation is noise 60 dB below it.
  @Test(arguments: [50.0, 100, 250, 1000], [0.2, 0.5])
  func stampJitterCausesNoiseBelowMinus60Decibels(rate: Double, jitter: Double) {
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
