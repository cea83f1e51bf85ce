// SPDX-License-Identifier: Apache-2.0

import Geometry
import Testing

@testable import HeadTracking

@Suite struct HeadPoseTests {
  /// A motion that is still for one second (the first sample sets the front), then turns at
  /// constant speed.
  private func uniformTurn(_ speed: Double) -> (Double) -> Quaternion {
    { YawPitchRoll(yaw: max(0, $0 - 1) * speed).quaternion }
  }

  private func yaw(_ q: Quaternion) -> Double { YawPitchRoll(q).yaw }

  @Test(arguments: [25.0, 50, 100, 285.7, 1000], [0.0, 60])
  func uniformTurnStaysUniformDespiteJitter(rate: Double, lead: Double) {
    for hasGyroscope in [true, false] {
      var simulation = PoseSimulation(uniformTurn(100))
      simulation.rate = rate
      simulation.lead = lead
      simulation.hasGyroscope = hasGyroscope
      simulation.block = 2
      let points = simulation.run()
      let top = points.topSpeed(from: 1.5)
      let ripple = points.speedRipple(from: 1.5, to: 2.5)
      let delay = points.delay(of: uniformTurn(100), from: 1.5, to: 2.5)
      print(
        "pose path: \(Int(rate)) Hz, asked \(Int(lead)) ms ahead, gyroscope \(hasGyroscope): "
          + "turn 100 deg/s, top \(top), ripple \(ripple) deg/s, delay \(delay) ms")
      #expect(top < 105)
      #expect(ripple < 2)
      // The delay is that of the report, relative to the requested time.
      #expect(abs(delay - (1 - lead)) < 3)
    }
  }

  @Test(arguments: [25.0, 100, 1000], [2.0, 10.67, 21.3])
  func poseSpeedIsBoundedDuringAHeadTurn(rate: Double, block: Double) {
    // 60 degrees in half a second: at most 225 degrees/s.
    let motion = { turn($0 - 1, degrees: 60, seconds: 0.5) }
    for lead in [0.0, 80] {
      var simulation = PoseSimulation(motion)
      simulation.rate = rate
      simulation.block = block
      simulation.lead = lead
      simulation.seconds = 2
      let points = simulation.run()
      print(
        "60 degrees in 0.5 s at \(rate) Hz, \(lead) ms ahead: at most \(points.topSpeed()) deg/s")
      // The pose moves faster than the head while it corrects the prediction error.
      #expect(points.topSpeed() < 225 * (lead == 0 ? 1.6 : rate < 50 ? 3.2 : 2))
      #expect(abs(yaw(points.pose(at: 1.95)) - 60) < 0.02)
    }
  }

  /// A leap is spread over 5 ms, or over 45 ms if sound is rendered long before it is heard.
  @Test(arguments: [true, false])
  func leapIsCorrectedQuicklyOnRequest(isQuick: Bool) throws {
    var simulation = PoseSimulation { YawPitchRoll(yaw: $0 < 1 ? 0 : 90).quaternion }
    simulation.hasGyroscope = false
    simulation.block = 2.67
    simulation.jitter = 0
    simulation.seconds = 1.5
    let source = HeadPoseSource()
    source.correctsQuickly = isQuick
    source.prediction = .off
    let points = simulation.run(source)
    let begin = try #require(points.first { $0.time > 0.9 && yaw($0.pose) > 1 }).time
    let end = try #require(points.first { $0.time > 0.9 && yaw($0.pose) > 89 }).time
    print("leap, quick \(isQuick): \((end - begin) * 1000) ms, most \(points.topSpeed()) deg/s")
    #expect(isQuick ? (0.003...0.008).contains(end - begin) : end - begin > 0.03)
    // The pose has no step: 90 degrees in 5 ms at most.
    #expect(points.topSpeed() < 90 / 0.005 * 1.05)
    #expect(abs(yaw(points.pose(at: 1.45)) - 90) < 0.02)
  }

  @Test func stillHeadGivesAConstantPose() {
    var simulation = PoseSimulation { _ in YawPitchRoll(yaw: 70, pitch: 10, roll: -5).quaternion }
    simulation.seconds = 2
    let last = YawPitchRoll(simulation.run().pose(at: 1.9))
    #expect(abs(last.yaw) < 1e-9)
    #expect(abs(last.pitch - 10) < 1e-9 && abs(last.roll + 5) < 1e-9)
  }

  @Test(arguments: [(100.0, 0.12), (25, 0.2), (1000, 0.12)])
  func stalePoseHoldsThenEasesToTheFrontAndReturns(rate: Double, limit: Double) {
    var simulation = PoseSimulation { time in turn(time - 0.5, degrees: 90, seconds: 0.3) }
    simulation.rate = rate
    simulation.seconds = 5
    simulation.isLost = { (1.5..<3.5).contains($0) }
    let points = simulation.run()
    let lastSample = 1.5
    // The pose is held until it is stale, within one block.
    let held = points.filter { $0.time > 1.4 && $0.time < lastSample + limit - 0.05 }
    #expect(held.allSatisfy { abs(yaw($0.pose) - 90) < 0.1 })
    // It reaches the front one second later.
    let arrived = points.first { $0.time > 1.6 && abs(yaw($0.pose)) < 0.1 }?.time ?? 99
    let begins = points.first { $0.time > 1.4 && yaw($0.pose) < 89.9 }?.time ?? 99
    print("stale at \(rate) Hz: eases \(begins - lastSample) s, in front \(arrived - lastSample) s")
    #expect(begins - lastSample > limit - 0.05)
    #expect(arrived - lastSample < limit + 1.05)
    // It is back after 0.3 s, and smooth in both directions: the peak speed of minimum jerk is
    // 1.875 times the mean.
    let back = points.first { $0.time > 3.5 && yaw($0.pose) > 89.9 }?.time ?? 99
    print("back after \(back - 3.5) s, fastest \(points.topSpeed(from: 1.4)) deg/s")
    #expect(back - 3.5 < 0.35 + 1 / rate)
    #expect(points.topSpeed(from: 1.4, to: 3.5) < 90 * 1.9)
    #expect(points.topSpeed(from: 3.5) < 90 / 0.3 * 1.9)
  }

  @Test func lostReportsCauseNoSteps() {
    // One report in five is lost, and once ten in a row (100 ms).
    var simulation = PoseSimulation { turn($0 - 1, degrees: 90, seconds: 1) }
    simulation.isLost = { time in
      Int(time * 100) % 5 == 2 || (1.4..<1.5).contains(time)
    }
    let points = simulation.run()
    // The head's own top speed is 169 degrees/s.
    #expect(points.topSpeed() < 169 * 3)
    #expect(abs(yaw(points.pose(at: 2.45)) - 90) < 0.02)
  }

  @Test func recentringTurnsOnlyTheYawIn400Milliseconds() {
    let source = HeadPoseSource()
    let tilted = YawPitchRoll(yaw: 20, pitch: 15, roll: -8)
    var turned = tilted
    turned.yaw = 80
    var previous: Quaternion?
    var (fastest, arrived) = (0.0, 99.0)
    for step in 0..<4000 {
      let seconds = Double(step) * 1e-3
      let time = PoseSimulation.nanoseconds(seconds)
      if step % 10 == 0 {
        let head = seconds < 1 ? tilted : turned
        source.push(HeadSample(time: time, headToWorld: head.quaternion))
      }
      if step == 2000 { source.recenter() }
      let pose = source.pose(at: time, now: time)
      if step == 1999 { #expect(abs(yaw(pose) - 60) < 0.01) }
      if let previous, step > 1990 {
        fastest = max(fastest, Quaternion.angle(between: previous, pose) * degreesPerRadian * 1000)
      }
      if step > 2000, abs(yaw(pose)) < 0.1 { arrived = min(arrived, seconds - 2) }
      previous = pose
    }
    let end = PoseSimulation.nanoseconds(4)
    let centred = YawPitchRoll(source.pose(at: end, now: end))
    #expect(abs(centred.yaw) < 0.01)
    #expect(abs(centred.pitch - 15) < 0.01 && abs(centred.roll + 8) < 0.01)
    print("recentring by 60 degrees: there after \(arrived) s, at most \(fastest) deg/s")
    #expect(arrived > 0.3 && arrived < 0.45)
    // The peak speed of minimum jerk is 1.875 times the mean.
    #expect(fastest < 60 / 0.4 * 1.9)
    #expect(source.status(now: end).pose == source.pose(at: end, now: end))
  }

  /// The yaw continues across a jump of the tracker's reference frame.
  @Test(arguments: [-170.0, 45, 120])
  func jumpOfTheReferenceFrameDoesNotTurnTheStage(jump: Double) {
    let source = HeadPoseSource()
    let frame = YawPitchRoll(yaw: jump).quaternion
    var simulation = PoseSimulation { _ in .identity }
    simulation.seconds = 0
    var worst = 0.0
    for step in 0..<3000 {
      let seconds = Double(step) * 1e-3
      let time = PoseSimulation.nanoseconds(seconds)
      let head = YawPitchRoll(yaw: 40 * seconds, pitch: 10).quaternion
      if step % 10 == 0 {
        let hasJumped = step >= 1500
        let rate = SIMD3(0.0, 0, 40 / degreesPerRadian)
        let pushed = source.push(
          HeadSample(
            time: time, headToWorld: hasJumped ? frame * head : head,
            angularVelocity: YawPitchRoll(pitch: 10).quaternion.conjugate.rotate(rate),
            discontinuityCount: hasJumped ? 4 : 3))
        #expect(pushed == (step == 1500))
      }
      let pose = source.pose(at: time, now: time)
      if step > 400 { worst = max(worst, abs(yaw(pose) - 40 * seconds)) }
    }
    print("jump of \(jump) degrees: the yaw is off by at most \(worst) degrees")
    #expect(worst < 0.2)
    #expect(source.status(now: 0).discontinuityCount == 1)
  }

  @Test func invalidSamplesAreCountedAndIgnored() {
    let source = HeadPoseSource()
    let start = PoseSimulation.origin
    let bad = [
      Quaternion(w: .nan, x: 0, y: 0, z: 0), Quaternion(w: 0, x: 0, y: 0, z: 0),
      Quaternion(w: .infinity, x: 0, y: 0, z: 0), Quaternion(w: 3, x: 0, y: 0, z: 0),
    ]
    for index in 0..<200 {
      let time = start + Int64(index) * 10_000_000
      let head = YawPitchRoll(yaw: Double(index) * 0.1).quaternion
      // The sign of a quaternion has no meaning, and a norm slightly off 1 is due to rounding.
      let sign = index % 3 == 0 ? -1.02 : 0.99
      source.push(
        HeadSample(
          time: time,
          headToWorld: Quaternion(
            w: head.w * sign, x: head.x * sign, y: head.y * sign, z: head.z * sign),
          angularVelocity: index % 2 == 0 ? SIMD3(.nan, 0, 0) : nil))
      source.push(HeadSample(time: time, headToWorld: .identity))
      source.push(HeadSample(time: time + 1, headToWorld: bad[index % bad.count]))
      let pose = source.pose(at: time + 3_000_000, now: time + 3_000_000)
      #expect(abs(pose.squaredNorm - 1) < 1e-9)
    }
    let status = source.status(now: start + 2_000_000_000)
    #expect(status.acceptedCount == 200 && status.rejectedCount == 400)
    let pose = source.pose(at: start + 1_991_000_000, now: start + 1_991_000_000)
    #expect(abs(yaw(pose) - 19.9) < 0.3)
  }

  @Test func statusReportsRateAgeAndFreshness() {
    let source = HeadPoseSource()
    let start = PoseSimulation.origin
    #expect(source.status(now: start).freshness == .waiting)
    for index in 0..<100 {
      source.push(HeadSample(time: start + Int64(index) * 20_000_000, headToWorld: .identity))
    }
    let last = start + 99 * 20_000_000
    let status = source.status(now: last + 7_000_000)
    #expect(status.freshness == .fresh && abs(status.rate - 50) < 0.01)
    #expect(abs((status.ageMilliseconds ?? 0) - 7) < 1e-6)
    #expect(source.status(now: last + 119_000_000).freshness == .fresh)
    #expect(source.status(now: last + 121_000_000).freshness == .stale)
    #expect(source.status(now: last + 1_121_000_000).freshness == .lost)
  }

  @Test("The state of a tracker with rare samples agrees with its pose, which holds for 2.5 s")
  func statusOfRareSamples() {
    let source = HeadPoseSource()
    let start = PoseSimulation.origin
    for index in 0..<4 {
      source.push(HeadSample(time: start + Int64(index) * 6_000_000_000, headToWorld: .identity))
    }
    let last = start + 18_000_000_000
    #expect(source.status(now: last + 2_490_000_000).freshness == .fresh)
    #expect(source.status(now: last + 2_510_000_000).freshness == .stale)
    #expect(source.status(now: last + 3_510_000_000).freshness == .lost)
  }

  @Test func poseComesToRestWhenSamplesStop() {
    let source = HeadPoseSource()
    let start = PoseSimulation.origin
    let rate = SIMD3(0.0, 0, 100 / degreesPerRadian)
    var now = start
    for index in 0..<100 {
      now = start + Int64(index) * 10_000_000
      let head = YawPitchRoll(yaw: Double(index)).quaternion
      source.push(HeadSample(time: now, headToWorld: head, angularVelocity: rate))
      _ = source.pose(at: now, now: now)
    }
    let ahead = [0, 10, 30, 60, 100].map { (milliseconds: Int64) in
      let later = now + milliseconds * 1_000_000
      return yaw(source.pose(at: later, now: later)) - 99
    }
    #expect(abs(ahead[0]) < 0.1 && abs(ahead[1] - 1) < 0.1)
    // Full speed until the next sample is overdue, then 30 ms of braking.
    #expect(ahead[4] < 5 && ahead[4] > 2 && abs(ahead[4] - ahead[3]) < 1e-6)
  }

  /// Rewriting a queue requests poses for times that were requested before.
  @Test func rewritingTheQueueUsesTheNewestPose() {
    let source = HeadPoseSource()
    let start = PoseSimulation.origin
    var now = start
    for index in 0..<100 {
      now = start + Int64(index) * 10_000_000
      let head = YawPitchRoll(yaw: index < 99 ? 0 : 30).quaternion
      source.push(HeadSample(time: now, headToWorld: head, angularVelocity: SIMD3(0, 0, 1e-6)))
      if index < 99 { _ = source.pose(at: now + 90_000_000, now: now) }
    }
    #expect(abs(yaw(source.pose(at: now + 10_000_000, now: now)) - 30) < 0.01)
  }

  /// A pass over the queue yields the newest poses, and does not change those of `pose(at:)`.
  @Test func passUsesTheNewestPoseAndLeavesOtherPosesUnchanged() {
    let (rewritten, appended) = (HeadPoseSource(), HeadPoseSource())
    var errors: [Double] = []
    for step in 0..<2_000 {
      let now = PoseSimulation.origin + Int64(step) * 1_000_000
      let seconds = Double(step) / 1000
      func head(_ t: Double) -> Quaternion { YawPitchRoll(yaw: 40 * sine(6 * t)).quaternion }
      for source in [rewritten, appended] where step % 10 == 0 {
        source.push(
          HeadSample(
            time: now, headToWorld: head(seconds),
            angularVelocity: (head(seconds - 5e-4).conjugate * head(seconds + 5e-4))
              .rotationVector / 1e-3))
      }
      if step == 1_500 { for source in [rewritten, appended] { source.recenter() } }
      let queued = now + 150_000_000
      #expect(rewritten.pose(at: queued, now: now) == appended.pose(at: queued, now: now))
      let start = now + 5_000_000
      rewritten.beginPass(from: start, to: start + 40_000_000, played: .identity, now: now)
      guard (300..<1_500).contains(step) else { continue }
      for ahead in [0, 10, 40] {
        let pose = rewritten.poseOfPass(at: start + Int64(ahead) * 1_000_000)
        let truth = head(seconds + 0.005 + Double(ahead) * 1e-3)
        errors.append(Quaternion.angle(between: pose, truth) * degreesPerRadian)
      }
    }
    #expect(rewritten.sampleIntervalOfPass == 10_000_000)
    #expect(errors.sorted()[errors.count * 95 / 100] < 1)
  }

  /// A new front does not cause a step in passes over the queue, and each pass continues the
  /// previous one.
  @Test func passEasesToANewFrontFromThePlayedPose() {
    let source = HeadPoseSource()
    let played = YawPitchRoll(yaw: 50).quaternion
    var yaws: [Double] = []
    for step in 0..<1_000 {
      let now = PoseSimulation.origin + Int64(step) * 1_000_000
      if step % 10 == 0 {
        let yaw = step < 100 ? 0.0 : 50
        source.push(HeadSample(time: now, headToWorld: YawPitchRoll(yaw: yaw).quaternion))
      }
      if step == 400 { source.recenter() }
      source.beginPass(from: now, to: now + 40_000_000, played: played, now: now)
      if step >= 300 { yaws.append(yaw(source.poseOfPass(at: now))) }
    }
    #expect(yaws[..<100].allSatisfy { abs($0 - 50) < 0.1 })
    #expect(zip(yaws, yaws.dropFirst()).allSatisfy { abs($0 - $1) < 0.4 })
    #expect(abs(yaws[520]) < 0.1)
  }

  @Test func newReferenceSetsTheFrontAndAPauseKeepsIt() {
    for isNew in [true, false] {
      let source = HeadPoseSource()
      var now = PoseSimulation.origin
      func play(_ yaw: Double, seconds: Double) {
        for step in 0..<Int(seconds * 1000) {
          now += 1_000_000
          if step % 10 == 0 {
            source.push(
              HeadSample(time: now, headToWorld: YawPitchRoll(yaw: yaw).quaternion))
          }
          _ = source.pose(at: now, now: now)
        }
      }
      play(0, seconds: 0.5)
      play(50, seconds: 1)
      #expect(abs(yaw(source.pose(at: now, now: now)) - 50) < 0.01)
      now += 3_000_000_000
      isNew ? source.beginReference() : source.resumeReference()
      play(70, seconds: 1)
      #expect(abs(yaw(source.pose(at: now, now: now)) - (isNew ? 0 : 70)) < 0.01)
    }
  }
}
