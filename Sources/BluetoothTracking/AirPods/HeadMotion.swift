// SPDX-License-Identifier: Apache-2.0

import Geometry
import HeadTracking

/// Converts motion reports to head samples.
struct HeadMotion {
  /// The rotation from the sensor's axes to the axes of the samples.
  var sensorToHead = Quaternion.identity
  private var orientation = MotionOrientation()
  private var clock = DeviceClock(nanosecondsPerTick: 1000)
  private var discontinuities = 0
  private var lastTicks: UInt64?
  private var lastTime = Int64.min
  private var last: HeadSample?
  /// The arrival time, in CLOCK_MONOTONIC nanoseconds, of the first report since settling last
  /// began; nil before that report.
  private var firstArrival: Int64?
  private var isSettled = false

  /// The earphones' orientation filter counts as settled when the tilt error of a report is below
  /// this angle, in radians.
  private static let settledTilt = 5 * Double.pi / 180
  /// The earphones' orientation filter also counts as settled when more than this time, in
  /// nanoseconds, has passed since `firstArrival`.
  private static let settlingTime: Int64 = 1_000_000_000
  /// If the orientation differs by more than this angle, in radians, from the one that the angular
  /// velocity predicts, the reference frame is assumed to have jumped.
  private static let leap = 20 * Double.pi / 180

  /// Marks the next sample as the first in another reference frame, if there is an earlier sample.
  mutating func beginDiscontinuity() {
    if last != nil { discontinuities += 1 }
  }

  /// Makes `take` return no samples until the earphones' orientation filter has settled.
  mutating func beginSettling() { (firstArrival, isSettled) = (nil, false) }

  /// Returns the samples of the reports in one packet, oldest first; none while the earphones'
  /// orientation filter settles. The arrival is in CLOCK_MONOTONIC nanoseconds.
  ///
  /// Only the newest report is used for the clock conversion, because the older reports were
  /// already outdated when they were sent.
  mutating func take(_ reports: [MotionReport], arrival: Int64) -> [HeadSample] {
    guard let newest = reports.last else { return [] }
    let time = clock.time(ticks: newest.microseconds, arrival: arrival)
    let first = firstArrival ?? arrival
    firstArrival = first
    return reports.compactMap { report in
      isSettled =
        isSettled || report.tiltError < Self.settledTilt || arrival - first > Self.settlingTime
      guard isSettled else { return nil }
      let age = newest.microseconds &- report.microseconds
      return sample(report, time: age < 1_000_000 ? time - Int64(age) * 1000 : time)
    }
  }

  private mutating func sample(_ report: MotionReport, time: Int64) -> HeadSample {
    let isBack = lastTicks.map { report.microseconds <= $0 } ?? false
    lastTicks = report.microseconds
    let step = orientation.take(report)
    if isBack || step.map({ $0.leap > Self.leap }) ?? false { discontinuities += 1 }
    lastTime = max(time, lastTime == .min ? .min : lastTime + 1000)
    let sample = HeadSample(
      time: lastTime,
      headToWorld: (orientation.sensorToWorld * sensorToHead.conjugate).normalized,
      angularVelocity: sensorToHead.rotate(report.angularVelocity),
      discontinuityCount: discontinuities)
    last = sample
    return sample
  }

  /// Returns a new sample with the last pose. Returns nil before the first sample and for 40 ms
  /// after the last sample.
  mutating func held(now: Int64) -> HeadSample? {
    guard var sample = last, now - sample.time >= 40_000_000 else { return nil }
    sample.time = now
    lastTime = now
    sample.angularVelocity = nil
    last = sample
    return sample
  }
}
