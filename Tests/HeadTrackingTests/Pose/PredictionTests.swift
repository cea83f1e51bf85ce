// SPDX-License-Identifier: Apache-2.0

import Geometry
import TestSupport
import Testing

@testable import HeadTracking
@testable import Laboratory

@Suite struct PredictionTests {
  /// The root mean square and the 95th percentile of a method's errors, in degrees.
  private func score(
    _ results: [PredictionTrial.Errors], _ method: PredictionTrial.Method
  ) -> (rms: Double, p95: Double) {
    let errors = PredictionTrial.Errors(
      method: method, lookAhead: 0,
      errors: results.filter { $0.method == method }.flatMap(\.errors))
    return (errors.rootMeanSquare * degreesPerRadian, errors.percentile95 * degreesPerRadian)
  }

  /// A turning head: its true motion, and the motion that a tracker with a noise of `degrees`
  /// per axis measures.
  private func turns(
    _ motion: (Double) -> Quaternion, seconds: Double, rate: Double, degrees: Double,
    gyroNoise: Double, seed: UInt64, scored: (Double) -> Bool
  ) -> (measured: RecordedMotion, truth: RecordedMotion) {
    var noise = SeededGenerator(seed)
    let fine = stride(from: 0, to: seconds + 0.3, by: 1e-3).map { $0 }
    let truth = RecordedMotion(times: fine, poses: fine.map(motion))
    let phase = noise.unit()
    let times = (0..<Int(seconds * rate)).map { (Double($0) + phase) / rate }
    let poses = times.map {
      motion($0) * Quaternion(rotationVector: noise.vector() * (degrees / degreesPerRadian))
    }
    let rates = times.map { time in
      (motion(time - 5e-4).conjugate * motion(time + 5e-4)).rotationVector / 1e-3
        + noise.vector() * (gyroNoise / degreesPerRadian)
    }
    return (
      RecordedMotion(
        times: times, poses: poses, angularVelocities: rates, isScored: times.map(scored)), truth
    )
  }

  /// Scores the turn from the first time at which the prediction can reach it to its end.
  @Test func turnOf60DegreesInHalfASecondIsPredicted() {
    let motion = { turn($0 - 1, degrees: 60, seconds: 0.5) }
    for (lookAhead, limit) in [(0.05, 1.8), (0.12, 7), (0.2, 24)] {
      let results = (1...40).flatMap { seed in
        let (measured, truth) = turns(
          motion, seconds: 2.2, rate: 50, degrees: 0.1, gyroNoise: 0.3, seed: UInt64(seed),
          scored: { $0 > 1 - lookAhead && $0 < 1.5 })
        return PredictionTrial.run(measured, truth: truth, lookAheads: [lookAhead])
      }
      let (ours, gyro) = (score(results, .ours), score(results, .gyro))
      let leastSquares = score(results, .leastSquares)
      print(
        "60 degrees in 0.5 s, 50 Hz, 0.1 degrees of noise, \(lookAhead) s ahead: p95 ours",
        "\(ours.p95), gyro \(gyro.p95), least squares \(leastSquares.p95);",
        "rms \(ours.rms), \(gyro.rms), \(leastSquares.rms)")
      #expect(ours.p95 <= limit)
      #expect(ours.rms < gyro.rms && ours.rms < leastSquares.rms)
    }
  }

  @Test(arguments: [50.0, 100, 250], [true, false])
  func predictionAddsNoNoiseToAStillHead(rate: Double, hasGyro: Bool) {
    for degrees in [0.02, 0.1, 0.3] {
      for lookAhead in [0.02, 0.05, 0.12, 0.2] {
        let still = YawPitchRoll(yaw: 30, pitch: -10, roll: 4).quaternion
        var (measured, truth) = turns(
          { _ in still }, seconds: 30, rate: rate, degrees: degrees, gyroNoise: 0.3, seed: 5,
          scored: { $0 > 5 })
        if !hasGyro { measured.angularVelocities = [] }
        let results = PredictionTrial.run(measured, truth: truth, lookAheads: [lookAhead])
        let (ours, last) = (score(results, .ours), score(results, .last))
        let leastSquares = score(results, .leastSquares)
        if lookAhead == 0.12 {
          print(
            "still head, \(rate) Hz, noise \(degrees), gyro \(hasGyro): rms ours \(ours.rms),",
            "sensor \(last.rms), least squares \(leastSquares.rms)")
        }
        #expect(ours.rms <= last.rms)
        #expect(ours.p95 <= last.p95)
      }
    }
  }

  @Test func overshootIsBounded() {
    for (degrees, seconds) in [(60.0, 0.5), (90, 0.6), (20, 0.3), (90, 0.25)] {
      for hasGyro in [true, false] {
        var predictor = HeadPredictor()
        var worst = 0.0
        for index in 0..<300 {
          let time = Double(index) * 0.01
          let pose = turn(time - 1, degrees: degrees, seconds: seconds)
          let rate =
            (turn(time - 1.0005, degrees: degrees, seconds: seconds).conjugate
            * turn(time - 0.9995, degrees: degrees, seconds: seconds)).rotationVector / 1e-3
          let forecast = predictor.forecast(
            time: Int64(time * 1e9), pose: pose, angularVelocity: hasGyro ? rate : nil)
          let predicted = pose * Quaternion(rotationVector: forecast.turn(after: 0.1))
          worst = max(worst, YawPitchRoll(predicted).yaw - degrees)
        }
        // The peak speed of minimum jerk is 1.875 times the mean.
        let reach = 1.875 * degrees / seconds * 0.1
        print(
          "overshoot of \(degrees) degrees in \(seconds) s at 0.1 s, gyro \(hasGyro): \(worst),",
          "at top speed the head makes \(reach)")
        #expect(worst < (hasGyro ? 0.6 : 1) * reach)
      }
    }
  }

  /// For any input, the forecast stays within the limits of a head.
  @Test func forecastSpeedIsLimited() {
    var noise = SeededGenerator(9)
    for rate in [25.0, 100, 1000] {
      var predictor = HeadPredictor()
      for index in 0..<2000 {
        let pose = Quaternion(rotationVector: noise.vector() * 2)
        let forecast = predictor.forecast(
          time: Int64(Double(index) / rate * 1e9), pose: pose,
          angularVelocity: index % 3 == 0 ? nil : noise.vector() * 60)
        for seconds in [0.01, 0.02, 0.07, 0.2, 5] {
          let turn = forecast.turn(after: seconds)
          let angle = (turn * turn).sum().squareRoot()
          #expect(angle <= HeadPredictor.fastest * min(seconds, 0.2) + 0.06)
        }
      }
    }
  }

  /// A gyroscope that reads zero, is mirrored or reports degrees loses the predictor's trust within
  /// the first turn.
  @Test(arguments: [0.0, -1, 57.3])
  func wrongGyroscopeIsNotTrusted(scale: Double) {
    let motion = { (time: Double) in
      YawPitchRoll(yaw: 40 * sine(2 * time), pitch: 15 * sine(3 * time)).quaternion
    }
    var (measured, truth) = turns(
      motion, seconds: 12, rate: 100, degrees: 0.05, gyroNoise: 0, seed: 3, scored: { $0 > 3 })
    let good = score(PredictionTrial.run(measured, truth: truth, lookAheads: [0.1]), .ours)
    measured.angularVelocities = measured.angularVelocities.map { $0 * scale }
    let bad = score(PredictionTrial.run(measured, truth: truth, lookAheads: [0.1]), .ours)
    measured.angularVelocities = []
    let without = score(PredictionTrial.run(measured, truth: truth, lookAheads: [0.1]), .ours)
    print("gyroscope times \(scale): rms \(bad.rms); good \(good.rms), none \(without.rms)")
    #expect(bad.rms < 1.2 * without.rms)
    #expect(good.rms <= without.rms)
  }

  /// Checks the baseline predictors against closed forms: all but the last pose predict a uniform
  /// rotation.
  @Test func baselinePredictorsMatchClosedForms() {
    let speed = 40.0
    let times = (0..<400).map { Double($0) * 0.01 }
    let motion = RecordedMotion(
      times: times, poses: times.map { YawPitchRoll(yaw: speed * $0).quaternion },
      angularVelocities: times.map { _ in SIMD3(0, 0, speed / degreesPerRadian) },
      isScored: times.map { $0 > 1 })
    for result in PredictionTrial.run(motion) {
      let degrees = result.rootMeanSquare * degreesPerRadian
      switch result.method {
      case .last: #expect(abs(degrees - speed * result.lookAhead) < 1e-6)
      case .gyro: #expect(degrees < 1e-6)
      // It interpolates quaternions along a chord instead of an arc.
      case .leastSquares: #expect(degrees < 0.05)
      case .ours: #expect(degrees < 0.05)
      }
    }
  }

  /// Heads look around in different ways, slow and fast. On each motion the predictor is at most
  /// slightly worse than the best baseline, and on average it is better.
  @Test func predictorBeatsTheBaselinesOnVariedMotions() {
    var sums: [PredictionTrial.Method: [Double]] = [:]
    for seed in 1...6 {
      var noise = SeededGenerator(UInt64(seed))
      let waves = (0..<4).map { _ in
        (0.15 + 0.7 * noise.unit(), 6 * noise.unit(), noise.vector() * Double(seed * 6))
      }
      let motion = { (time: Double) -> Quaternion in
        let angles = waves.reduce(SIMD3<Double>.zero) {
          $0 + $1.2 * sine(2 * .pi * $1.0 * time + $1.1)
        }
        return YawPitchRoll(yaw: angles.x, pitch: angles.y / 2, roll: angles.z / 3).quaternion
      }
      let (measured, truth) = turns(
        motion, seconds: 40, rate: 100, degrees: 0.05, gyroNoise: 0.3, seed: UInt64(seed),
        scored: { $0 > 5 })
      for lookAhead in Forecast.lookAheads {
        let results = PredictionTrial.run(measured, truth: truth, lookAheads: [lookAhead])
        let ours = score(results, .ours).rms
        let best = [.last, .gyro, .leastSquares].map { score(results, $0).rms }.min() ?? 0
        #expect(ours < 1.1 * best)
        for method in PredictionTrial.Method.allCases {
          sums[method, default: []].append(score(results, method).rms)
        }
      }
    }
    let means = sums.mapValues { $0.reduce(0, +) / Double($0.count) }
    print("motions of many kinds, mean rms:", means.map { "\($0.key.rawValue) \($0.value)" })
    #expect(means[.ours]! < 0.7 * min(means[.last]!, means[.gyro]!, means[.leastSquares]!))
  }

  @Test func recordingIsParsed() throws {
    let text = """
      t,gx,gy,gz,qw,qx,qy,qz,movement,other
      0,0.1,0.2,0.3,1,0,0,0,0,x
      0.01,0.1,0.2,0.3,nan,nan,nan,nan,1,x
      0.02,0.1,nan,0.3,2,0,0,0,1,x
      """
    let motion = try RecordedMotion(Array(text.utf8), name: "m.csv")
    #expect(motion.times == [0, 0.01, 0.02])
    #expect(motion.poses == [.identity, nil, .identity])
    #expect(motion.angularVelocities == [SIMD3(0.1, 0.2, 0.3), SIMD3(0.1, 0.2, 0.3), .zero])
    #expect(motion.isScored == [false, true, true])
    let plain = try RecordedMotion(Array("t,w,x,y,z\n1,1,0,0,0\n".utf8), name: "m.csv")
    #expect(plain.angularVelocities.isEmpty && plain.isScored.isEmpty)
    #expect(throws: HeadTrackingError.self) {
      try RecordedMotion(Array("t,gx,gy,gz\n1,1,0,0\n".utf8), name: "m.csv")
    }
    // The times must ascend and be countable in nanoseconds.
    for times in [["1", "1"], ["1", "0.5"], ["1", "9e9"], ["-9e9", "0"]] {
      let rows = times.map { "\($0),1,0,0,0\n" }.joined()
      #expect(throws: HeadTrackingError.self) {
        try RecordedMotion(Array("t,w,x,y,z\n\(rows)".utf8), name: "m.csv")
      }
    }
  }
}
