// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import TestSupport
import Testing

@testable import HeadTracking

@Suite struct AxisFindingTests {
  /// The pose that a tracker mounted by `map`, with the reference frame `reference`, reports for a
  /// head pose.
  private func reportedPose(
    _ head: Quaternion, _ map: AxisMap, _ reference: Quaternion
  ) -> Quaternion {
    reference * head * map.quaternion
  }

  private let poses = (
    ahead: YawPitchRoll(yaw: 4, pitch: -3, roll: 2).quaternion,
    up: YawPitchRoll(yaw: 2, pitch: 28, roll: -3).quaternion,
    left: YawPitchRoll(yaw: 50, pitch: -8, roll: 4).quaternion
  )

  @Test func axisMapsAre24Rotations() {
    #expect(AxisMap.all.count == 24)
    for map in AxisMap.all {
      let vector = SIMD3(0.3, -1.2, 2)
      #expect((map.quaternion.rotate(vector) - map.apply(vector)).length < 1e-12)
      #expect((try? AxisMap(map.text)) == map)
    }
  }

  /// Tests all mountings of a tracker on the head and all orientations of its reference frame.
  @Test func findsEveryMountingAndCorrectsIt() throws {
    var random = SeededGenerator.forTest()
    for map in AxisMap.all {
      for frame in AxisMap.all {
        let reference =
          frame.quaternion * YawPitchRoll(yaw: .random(in: -180...180, using: &random)).quaternion
        func reported(_ head: Quaternion) -> Quaternion { reportedPose(head, map, reference) }
        let finding = try AxisFinding(
          ahead: reported(poses.ahead), up: reported(poses.up), left: reported(poses.left))
        #expect(finding.axes == map)
        #expect(finding.misalignmentDegrees < 15)
        let calibration = TrackerCalibration(
          vendorID: 1, productID: 2, serial: "", name: "", axes: finding.axes, up: finding.up,
          rate: 100)
        expectCorrected(calibration, reported)
      }
    }
  }

  /// Checks that calibrated poses equal the head's, except for the yaw, which recentring sets.
  private func expectCorrected(
    _ calibration: TrackerCalibration, _ reported: (Quaternion) -> Quaternion
  ) {
    var front: Quaternion?
    for _ in 0..<3 {
      let head = YawPitchRoll(
        yaw: .random(in: -170...170), pitch: .random(in: -70...70), roll: .random(in: -40...40)
      ).quaternion
      let rate = SIMD3<Double>.random(in: -3...3)
      let sample = HeadSample(
        time: 0, headToWorld: reported(head),
        angularVelocity: calibration.axes.quaternion.conjugate.rotate(rate))
      let result = calibration.applied(to: sample)
      #expect(inclinationError(result.headToWorld, head) < 1e-4)
      #expect(((result.angularVelocity ?? .zero) - rate).length < 1e-9)
      let yaw = result.headToWorld * head.conjugate
      if let front { #expect(Quaternion.angle(between: yaw, front) < 1e-6) }
      front = yaw
    }
  }

  /// With an upright reference frame, poses in another order or to the other side are detected.
  @Test func refusesWrongPosesInAnUprightFrame() {
    let (up, left) = (
      YawPitchRoll(yaw: 0, pitch: 30).quaternion, YawPitchRoll(yaw: 45).quaternion
    )
    func find(_ second: Quaternion, _ third: Quaternion) throws {
      _ = try AxisFinding(ahead: .identity, up: second, left: third, isUpright: true)
    }
    #expect(throws: Never.self) { try find(up, left) }
    #expect(throws: CalibrationError.otherPoses) { try find(left, up) }
    #expect(throws: CalibrationError.mirrored) { try find(up, left.conjugate) }
  }

  @Test func refusesPosesThatDoNotDetermineTheAxes() {
    func find(_ up: YawPitchRoll, _ left: YawPitchRoll, _ mount: Quaternion = .identity) throws {
      _ = try AxisFinding(
        ahead: mount, up: up.quaternion * mount, left: left.quaternion * mount)
    }
    let (up, left) = (YawPitchRoll(yaw: 0, pitch: 30), YawPitchRoll(yaw: 45))
    #expect(throws: Never.self) { try find(up, left) }
    #expect {
      try find(YawPitchRoll(yaw: 0, pitch: 8), left)
    } throws: {
      "\($0)".hasPrefix("looking up turned the tracker by only 8.0 degrees")
    }
    #expect {
      try find(up, YawPitchRoll(yaw: 12))
    } throws: {
      "\($0)".hasPrefix("looking left turned the tracker by only 12.0 degrees")
    }
    #expect {
      try find(YawPitchRoll(yaw: 40), left)
    } throws: {
      "\($0)".contains("0.0 degrees apart")
    }
    let tiltedMount = Quaternion(rotationVector: SIMD3(0.5, 0.5, 0.5))
    #expect {
      try find(up, left, tiltedMount)
    } throws: {
      "\($0)".contains("askew") && "\($0)".contains("mount the tracker straighter")
    }
  }
}

@Suite struct StillnessReportTests {
  private let degree = Double.pi / 180

  private func samples(
    _ count: Int, bias: SIMD3<Double>, noise: Double,
    turn: @escaping (Double) -> Quaternion
  ) -> [HeadSample] {
    var sensor = SimulatedSensor(rate: 100, bias: bias, rateNoise: noise, motion: turn)
    return (0..<count).map { index in
      let (sample, truth) = sensor.sample(at: index)
      return HeadSample(
        time: sample.time, headToWorld: truth, angularVelocity: sample.angularVelocity)
    }
  }

  @Test func reportsRateNoiseBiasAndDrift() throws {
    let drift = 0.05
    let poses = samples(1000, bias: SIMD3(0.4, -0.2, 0.1 - drift), noise: 0.1) { time in
      Quaternion(rotationVector: SIMD3(0, 0, drift * .pi / 180 * time))
    }
    let report = try StillnessReport(poses: poses)
    #expect(report.samples == 1000)
    #expect(abs(report.rate - 100) < 1e-6)
    #expect(report.jitter < 1e-6 && abs(report.longestInterval - 0.01) < 1e-6)
    let bias = try #require(report.gyroBias) / degree
    #expect((bias - SIMD3(0.4, -0.2, 0.1)).length < 0.02)
    let noise = try #require(report.gyroNoise) / degree
    #expect((noise - SIMD3(repeating: 0.1)).length < 0.02)
    #expect(abs(report.poseDrift / degree - drift) < 1e-3)
    #expect(report.forceNoise == nil)
  }

  @Test func rawSamplesAddAccelerometerNoise() throws {
    var sensor = SimulatedSensor(rate: 500, bias: SIMD3(1, 0, 0), rateNoise: 0.2, forceNoise: 0.03)
    let raw = (0..<2000).map { sensor.sample(at: $0).sample }
    let report = try StillnessReport(poses: [], inertial: raw)
    #expect(abs(report.rate - 500) < 1e-3)
    let noise = try #require(report.forceNoise)
    #expect((noise - SIMD3(repeating: 0.03)).length < 0.005)
    #expect(abs(try #require(report.gyroBias).x / degree - 1) < 0.02)
  }

  @Test func refusesShortMovingOrImplausibleRecordings() {
    #expect(throws: CalibrationError.tooFewSamples(20)) {
      try StillnessReport(poses: samples(20, bias: .zero, noise: 0) { _ in .identity })
    }
    #expect {
      try StillnessReport(
        poses: samples(500, bias: .zero, noise: 0) { YawPitchRoll(yaw: 3 * $0).quaternion })
    } throws: {
      if case .moved = $0 as? CalibrationError { true } else { false }
    }
    #expect {
      try StillnessReport(poses: samples(500, bias: SIMD3(0, 7, 0), noise: 0) { _ in .identity })
    } throws: {
      if case .implausibleBias = $0 as? CalibrationError { true } else { false }
    }
  }

  @Test func zeroGyroscopeHasNoBias() throws {
    let report = try StillnessReport(
      poses: samples(200, bias: .zero, noise: 0) { _ in .identity })
    #expect(report.gyroBias == nil && report.gyroNoise == nil)
  }
}

@Suite struct HeldPoseTests {
  private func feed(_ held: inout HeldPose, _ yaw: (Double) -> Double, seconds: Double) -> Double? {
    for index in 0..<Int(seconds * 50) {
      let time = Double(index) / 50
      let sample = HeadSample(
        time: Int64(time * 1e9), headToWorld: YawPitchRoll(yaw: yaw(time)).quaternion)
      if let pose = held.add(sample) { return YawPitchRoll(pose).yaw }
    }
    return nil
  }

  @Test func acceptsAPoseHeldFarEnoughFromTheFirst() throws {
    var held = HeldPose(distance: 25...150, from: .identity)
    // The head looks ahead, then turns to 50 degrees until 3 s, with a tremor.
    let yaw = try #require(
      feed(&held, { 0.3 * sin(9 * $0) + 50 * min(1, max(0, $0 - 2)) }, seconds: 6))
    #expect(abs(yaw - 50) < 1)
  }

  @Test func movingHeadGivesNoPose() {
    var held = HeldPose()
    #expect(feed(&held, { 20 * $0 }, seconds: 5) == nil)
  }
}

@Suite struct TrackerCalibrationTests {
  private func calibration(_ change: (inout TrackerCalibration) -> Void) -> TrackerCalibration {
    var result = TrackerCalibration(
      vendorID: 0x1234, productID: 0x5678, serial: "A1", name: "T", axes: .rightFrontUp, up: .z,
      gyroBias: SIMD3(0.01, 0.02, 0.03), rate: 100)
    change(&result)
    return result
  }

  @Test func invalidValuesAreRefused() {
    #expect(throws: Never.self) { try calibration { _ in }.validate() }
    for change: (inout TrackerCalibration) -> Void in [
      { $0.gyroBias = SIMD3(0.5, 0, 0) }, { $0.gyroBias = SIMD3(.nan, 0, 0) },
      { $0.gyroNoise = SIMD3(-1, 0, 0) }, { $0.forceNoise = SIMD3(0, .infinity, 0) },
      { $0.rate = 0 }, { $0.rate = .nan },
    ] {
      #expect(throws: CalibrationError.self) { try calibration(change).validate() }
    }
  }

  @Test func biasIsSubtractedUnlessTheGyroscopeReadsZero() {
    let calibration = calibration { _ in }
    let rate = SIMD3(1.0, 2, 3)
    let sample = HeadSample(time: 0, headToWorld: .identity, angularVelocity: rate)
    let expected = AxisMap.rightFrontUp.apply(rate - SIMD3(0.01, 0.02, 0.03))
    #expect(calibration.applied(to: sample).angularVelocity == expected)
    let zero = HeadSample(time: 0, headToWorld: .identity, angularVelocity: .zero)
    #expect(calibration.applied(to: zero).angularVelocity == .zero)
    #expect(calibration.filterBias == AxisMap.rightFrontUp.apply(SIMD3(0.01, 0.02, 0.03)))
  }

  @Test func axisMapAppliesToAllVectorsOfARawSample() {
    let raw = InertialSample(
      time: 5, angularVelocity: SIMD3(1, 2, 3), specificForce: SIMD3(4, 5, 6),
      magneticField: SIMD3(7, 8, 9))
    let result = calibration { _ in }.applied(to: raw)
    #expect(result.angularVelocity == SIMD3(2, -1, 3))
    #expect(result.specificForce == SIMD3(5, -4, 6))
    #expect(result.magneticField == SIMD3(8, -7, 9))
    #expect(result.time == 5)
  }
}
