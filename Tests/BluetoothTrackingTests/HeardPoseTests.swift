// SPDX-License-Identifier: Apache-2.0

import Geometry
import HeadTracking
import TestSupport
import Testing

@testable import BluetoothTracking

/// What the renderer gets from simulated AirPods.
@Suite struct HeardPoseTests {
  /// The largest step of the pose in 5 ms beyond that of the head, in degrees, and the largest
  /// difference from the head after `settled` seconds.
  private struct Heard {
    var largestStep = 0.0
    var largestError = 0.0
    private var last: (heard: Quaternion, head: Quaternion)?

    mutating func add(_ heard: Quaternion, head: Quaternion, isSettled: Bool) {
      let degrees = 180 / Double.pi
      if let last {
        let step = Quaternion.angle(between: last.heard, heard)
        let turn = Quaternion.angle(between: last.head, head)
        largestStep = max(largestStep, (step - turn) * degrees)
      }
      if isSettled {
        largestError = max(largestError, Quaternion.angle(between: heard, head) * degrees)
      }
      last = (heard, head)
    }
  }

  /// Runs an exchange and measures the pose that is heard 40 ms later than it is asked for.
  private func heard(
    _ exchange: inout Exchange, _ source: HeadPoseSource, seconds: Double, settled: Double = 2
  ) -> Heard {
    var heard = Heard()
    var count = exchange.samples.count
    let begin = exchange.now
    exchange.run(seconds: seconds) { exchange in
      for sample in exchange.samples[count...] { source.push(sample) }
      count = exchange.samples.count
      guard count > 0 else { return }
      let time = exchange.now + 20_000_000
      let isSettled = Double(exchange.now - begin) * 1e-9 > settled
      heard.add(
        source.pose(at: time, now: exchange.now), head: exchange.airPods.truth(at: time),
        isSettled: isSettled)
    }
    return heard
  }

  private func source(front: Double = 0) -> HeadPoseSource {
    let source = HeadPoseSource()
    source.takesDriftBack = false
    source.keepFront(front)
    source.beginReference()
    return source
  }

  @Test("Batches, restarts and a silent start make no step above 2 degrees")
  func steady() {
    for behaviour: SimulatedAirPods.Behaviour in [
      .init(), .init(silentStarts: 1), .init(slowStarts: 1), .init(batches: [1, 3, 2]),
    ] {
      var exchange = Exchange(behaviour)
      let result = heard(&exchange, source(), seconds: 12, settled: 8)
      #expect(result.largestStep < 2)
      #expect(result.largestError < 6)
    }
  }

  @Test("An ear-out and back, a leap of the frame and a step of the clock are eased")
  func discontinuities() {
    var exchange = Exchange()
    let source = source()
    #expect(heard(&exchange, source, seconds: 5).largestStep < 2)
    exchange.notify(SimulatedAirPods.ears(1, 1))
    #expect(heard(&exchange, source, seconds: 3).largestStep < 2)
    exchange.notify(SimulatedAirPods.ears(0, 1))
    #expect(heard(&exchange, source, seconds: 3).largestStep < 2)
    exchange.airPods.world = YawPitchRoll(yaw: 80, pitch: 0, roll: 0).quaternion
    #expect(heard(&exchange, source, seconds: 3).largestStep < 2)
    exchange.airPods.clockOffset -= 3_000_000
    #expect(heard(&exchange, source, seconds: 3).largestStep < 2)
    exchange.airPods.clockOffset += 10_000_000
    #expect(heard(&exchange, source, seconds: 3).largestStep < 2)
  }

  /// Returns how far the stage is off after half an hour in which the gyroscope drifts by 0.5
  /// degrees per minute, in degrees.
  ///
  /// - Parameter rest: the yaw at which the head rests, in degrees, for 50 s of every minute; it
  ///   looks around for the rest.
  private func stageOffset(rest: Double) -> Double {
    let source = HeadPoseSource()
    source.keepFront(0)
    source.beginReference()
    var offset = 0.0
    for step in 0..<30 * 60 * 50 {
      let seconds = Double(step) * 0.02
      let isLooking = seconds.truncatingRemainder(dividingBy: 60) > 50
      let yaw = rest + (isLooking ? 30 * Exchange.wave(seconds, 0.2) : 0)
      let drift = 0.5 / 60 * seconds
      let now = 1_000_000_000 + Int64(step) * 20_000_000
      source.push(
        HeadSample(
          time: now, headToWorld: YawPitchRoll(yaw: yaw + drift, pitch: 2, roll: 0).quaternion))
      let heard = source.pose(at: now, now: now)
      offset = YawPitchRoll(heard).yaw - yaw
    }
    return abs(offset)
  }

  @Test("A drift of 0.5 degrees per minute is taken back while the head rests near the front")
  func drift() {
    let (ahead, aside) = (stageOffset(rest: 0), stageOffset(rest: 40))
    #expect(ahead < 0.3)
    // A head that rests to the side may be looking at something, so nothing is taken back.
    #expect(abs(aside - 15) < 1)
  }

  @Test("Recentring levels a head whose mounting is known only roughly")
  func levels() {
    let tilt = YawPitchRoll(yaw: 0, pitch: 15, roll: -8).quaternion
    let upright = HeadSample(time: 1_000_000_000, headToWorld: tilt)
    for levelsOnRecenter in [false, true] {
      let source = source()
      source.levelsOnRecenter = levelsOnRecenter
      var now = upright.time
      var pose = Quaternion.identity
      for step in 0..<200 {
        now += 20_000_000
        if step == 20 { source.recenter() }
        source.push(HeadSample(time: now, headToWorld: tilt))
        pose = source.pose(at: now, now: now)
      }
      let angle = Quaternion.angle(between: pose, .identity) * 180 / .pi
      #expect(levelsOnRecenter ? angle < 0.01 : angle > 16)
    }
  }
}
