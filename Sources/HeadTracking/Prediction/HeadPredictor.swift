// SPDX-License-Identifier: Apache-2.0

import CRealtime
public import Geometry

/// Predicts a head's motion up to 200 ms ahead.
///
/// For each axis of the head, the predicted mean velocity over a look-ahead is a linear combination
/// of recent velocities about that axis. The coefficients start from `PredictorPrior` and are
/// learned from past motion, with an exponential memory of three seconds.
///
/// The velocities come from the gyroscope if it agrees with the poses, otherwise from the poses. A
/// head that moves no more than the sensor's noise is predicted to stay at the mean of the recent
/// poses.
///
/// ## Threading
/// One thread at a time may use a predictor. Its forecasts may be evaluated on the audio thread.
public struct HeadPredictor: Sendable {
  /// The largest speed that is predicted, in rad/s.
  static let fastest = 17.5
  /// The largest acceleration that is predicted, in rad/s^2.
  static let strongest = 150.0

  private var memory = MotionMemory()
  private var learners: [RidgeLearner] = []
  /// For each learner, the number of the next `memory` entry to learn from.
  private var next = [Int](repeating: 0, count: 4)
  private var learned = [Int64](repeating: 0, count: 4)
  private var noise = PoseNoise()
  private var trust = GyroTrust()
  private var last: MotionEntry?
  private var lastVelocity: SIMD3<Double>?
  private var isInertial = false

  public init() {}

  /// Discards the recent motion after a gap or a jump, but keeps the learned coefficients.
  public mutating func restart() {
    memory.removeAll()
    noise.restart()
    trust.restart()
    last = nil
    lastVelocity = nil
    for index in next.indices { next[index] = memory.end }
  }

  /// Rotates the stored poses into another world frame.
  mutating func turn(by turn: Quaternion) {
    memory.turn(by: turn)
    noise.restart()
    trust.restart()
    if let pose = last?.pose { last?.pose = (turn * pose).normalized }
  }

  /// Takes a sample and returns the predicted motion after it.
  ///
  /// - Parameters:
  ///   - time: the time of the sample, in nanoseconds.
  ///   - pose: the orientation of the head, of unit norm, in a frame that stays fixed.
  ///   - angularVelocity: the gyroscope's reading, in the head's frame, in rad/s; nil without a
  ///     gyroscope.
  public mutating func forecast(
    time: Int64, pose: Quaternion, angularVelocity: SIMD3<Double>?
  ) -> Forecast {
    guard let previous = last, time > previous.time else {
      return begin(time, pose, angularVelocity)
    }
    let seconds = Double(time - previous.time) * 1e-9
    let step = (previous.pose.conjugate * pose).rotationVector
    let speed = realtime_sqrt((step * step).sum()) / seconds
    // Start again after a leap of the pose or a gap.
    if speed > 2 * Self.fastest || seconds > 0.25 {
      restart()
      return begin(time, pose, angularVelocity)
    }
    noise.add(pose, time)
    let between = lastVelocity.flatMap { last in angularVelocity.map { (last + $0) / 2 } }
    trust.compare(gyroscope: (between ?? .zero) * seconds, pose: pose, time: time)
    use(inertial: angularVelocity != nil && trust.isTrusted)
    var turn = step
    if isInertial, let between { turn = between * seconds }
    var entry = MotionEntry(
      time: time, pose: pose,
      path: (previous.path * Quaternion(rotationVector: turn)).normalized, isInertial: isInertial)
    lastVelocity = angularVelocity
    let stillness = observe(&entry, angularVelocity)
    last = entry
    learn(entry)
    if memory.end == memory.start || time - memory[memory.end - 1].time >= MotionMemory.spacing {
      memory.append(entry)
    }
    return predict(entry, stillness)
  }

  private mutating func begin(
    _ time: Int64, _ pose: Quaternion, _ velocity: SIMD3<Double>?
  ) -> Forecast {
    use(inertial: velocity != nil && trust.isTrusted)
    var entry = MotionEntry(time: time, pose: pose, isInertial: isInertial)
    if isInertial, let velocity { entry.features.values = .init(repeating: velocity) }
    last = entry
    lastVelocity = velocity
    noise.add(pose, time)
    memory.append(entry)
    return predict(entry, Stillness(share: isInertial ? 0 : 1, mean: .zero))
  }

  private mutating func use(inertial: Bool) {
    if inertial == isInertial, !learners.isEmpty { return }
    isInertial = inertial
    // Velocities from the gyroscope and from the poses must not be mixed.
    memory.removeAll()
    let prior = inertial ? PredictorPrior.inertial : PredictorPrior.positional
    learners = zip(prior, Forecast.lookAheads).map { RidgeLearner(prior: $0, lookAhead: $1) }
    for index in next.indices { next[index] = memory.end }
  }
}

// MARK: Motion of the head

extension HeadPredictor {
  private struct Stillness {
    /// How still the head is: 0 if it clearly moves, 1 if it moves no more than the tracker's
    /// noise.
    var share: Double
    /// Rotation vector from the pose to the mean of the recent poses, in radians.
    var mean: SIMD3<Double>
  }

  private func observe(_ entry: inout MotionEntry, _ velocity: SIMD3<Double>?) -> Stillness {
    var (before, beforeLag) = (SIMD3<Double>(0, 0, 0), 0.0)
    var (sum, reached, farthest) = (SIMD3<Double>(0, 0, 0), 0, 0.0)
    if isInertial, let velocity { entry.features.values[0] = velocity }
    for index in 0..<4 {
      let lag = MotionFeatures.lags[index]
      guard let state = memory.state(at: entry.time - lag, before: entry) else { break }
      let back = (entry.path.conjugate * state.path).rotationVector
      let seconds = Double(lag) * 1e-9
      entry.features.values[index + 1] = (before - back) / (seconds - beforeLag)
      (before, beforeLag) = (back, seconds)
      let moved = (entry.pose.conjugate * state.pose).rotationVector
      sum += moved
      reached += 1
      farthest = max(farthest, realtime_sqrt((moved * moved).sum()))
    }
    entry.features.isComplete = reached == 4
    // If the history is too short, repeat its earliest known velocity.
    let known = entry.features.values[reached]
    for index in reached..<4 { entry.features.values[index + 1] = known }
    var motion = Self.smooth(farthest, from: noise.still, to: 1.6 * noise.still)
    if isInertial, let velocity {
      let speed = realtime_sqrt((velocity * velocity).sum())
      motion = max(motion, Self.smooth(speed, from: Self.slow, to: 2 * Self.slow))
    }
    return Stillness(share: 1 - motion, mean: sum / Double(reached + 1))
  }

  /// The speed below which a gyroscope is assumed to measure only noise and bias, in rad/s.
  private static let slow = 0.035

  private static func smooth(_ value: Double, from low: Double, to high: Double) -> Double {
    let x = min(1, max(0, (value - low) / (high - low)))
    return x * x * (3 - 2 * x)
  }

  /// Updates each learner with past moments whose later motion is known.
  private mutating func learn(_ entry: MotionEntry) {
    for index in learners.indices {
      let seconds = Forecast.lookAheads[index]
      let lookAhead = Int64(seconds * 1e9)
      next[index] = max(next[index], memory.start)
      let begin = next[index]
      while next[index] < memory.end {
        let past = memory[next[index]]
        guard past.time + lookAhead <= entry.time else { break }
        next[index] += 1
        let weight = min(Double(past.time - learned[index]) * 1e-9, 0.05)
        learned[index] = past.time
        guard past.features.isComplete, past.isInertial == isInertial,
          let future = memory.state(at: past.time + lookAhead, before: entry)
        else { continue }
        let turn = (past.pose.conjugate * future.pose).rotationVector
        learners[index].learn(past.features.values, mean: turn / seconds, weight: weight)
      }
      if next[index] > begin { learners[index].solve() }
    }
  }

  private func predict(_ entry: MotionEntry, _ stillness: Stillness) -> Forecast {
    var forecast = Forecast()
    let features = entry.features.values
    let motion = 1 - stillness.share
    let velocity = Self.limited(features[isInertial ? 0 : 1] * motion, to: Self.fastest)
    forecast.means[0] = velocity
    for index in 0..<4 {
      let seconds = Forecast.lookAheads[index]
      let coefficients = learners[index].coefficients
      var mean = SIMD3<Double>(0, 0, 0)
      for i in 0..<5 { mean += features[i] * coefficients[i] }
      let gain = Self.limited(mean * motion - velocity, to: Self.strongest * seconds / 2)
      mean = Self.limited(velocity + gain, to: Self.fastest)
      forecast.means[index + 1] = mean + stillness.mean * (stillness.share / seconds)
    }
    return forecast
  }

  private static func limited(_ vector: SIMD3<Double>, to limit: Double) -> SIMD3<Double> {
    let length = realtime_sqrt((vector * vector).sum())
    return length > limit ? vector * (limit / length) : vector
  }
}

/// The initial coefficients of the predictor.
///
/// They are the least-squares solution over 300 minimum-jerk turns (Flash and Hogan, J. Neurosci.
/// 1985) of 15 to 90 degrees, sampled at 100 Hz. Each turn lasts (0.25 s + 0.25 s per 60 degrees)
/// times a factor from 0.9 to 1.8, with rest before and after. The pose noise is 0.1 degrees and
/// the gyroscope noise is 1 degree/s; for the last row of each table, 0.2 degrees and 4 degrees/s.
///
/// Rows: look-aheads of 20, 50, 100 and 200 ms. Columns: the features of `MotionFeatures`.
enum PredictorPrior {
  static let inertial: [[Double]] = [
    [0.6806, 0.8275, -0.4918, -0.0611, 0.0397],
    [1.1321, 0.9856, -1.3030, 0.1199, 0.0502],
    [1.9774, 1.1270, -2.8046, 0.6135, 0.0413],
    [0.8568, 1.2581, -0.5028, -1.2005, 0.3952],
  ]

  /// The coefficients without a trusted gyroscope.
  static let positional: [[Double]] = [
    [0, 0.3596, 0.8052, -0.0297, -0.2192],
    [0, 0.6134, 0.7636, -0.3382, -0.1382],
    [0, 0.8162, 0.7753, -0.6886, -0.0533],
    [0, 0.5195, 0.6047, -0.1586, -0.3120],
  ]
}
