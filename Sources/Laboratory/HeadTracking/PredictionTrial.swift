// SPDX-License-Identifier: Apache-2.0

import Geometry
internal import HeadTracking

/// A recorded or generated head motion: poses and, if known, angular velocities.
package struct RecordedMotion: Sendable {
  /// Times in seconds. They must ascend; this is not checked.
  var times: [Double]
  /// `headToWorld` for each time; nil if unknown.
  var poses: [Quaternion?]
  /// Angular velocities in the head frame, in rad/s; empty if they are unknown.
  var angularVelocities: [SIMD3<Double>]
  /// Whether each sample is scored; empty if all are.
  var isScored: [Bool]

  init(
    times: [Double], poses: [Quaternion?], angularVelocities: [SIMD3<Double>] = [],
    isScored: [Bool] = []
  ) {
    self.times = times
    self.poses = poses
    self.angularVelocities = angularVelocities
    self.isScored = isScored
  }

  /// Returns the pose at a time, by slerp between the last sample before it and the first sample
  /// at or after it. Returns nil if either sample is missing or has no known pose. The search for
  /// the later sample begins at `index`.
  func pose(at time: Double, from index: Int) -> Quaternion? {
    var next = index
    while next < times.count, times[next] < time { next += 1 }
    guard next > 0, next < times.count, let b = poses[next], let a = poses[next - 1] else {
      return nil
    }
    let fraction = (time - times[next - 1]) / (times[next] - times[next - 1])
    return .slerp(a, b, fraction)
  }
}

/// Compares predictors on a recorded motion.
package struct PredictionTrial: Sendable {
  package enum Method: String, Sendable, CaseIterable {
    /// Keeps the last pose.
    case last
    /// Extrapolates with the gyroscope's angular velocity.
    case gyro
    /// Android's predictor, `LeastSquaresPredictor`.
    case leastSquares = "least-squares"
    /// This project's predictor, `HeadPredictor`.
    case ours
  }

  /// The default look-aheads, in seconds.
  package static let lookAheads = [0.020, 0.050, 0.100, 0.150, 0.200]

  /// The angular errors of one method at one look-ahead.
  package struct Errors: Sendable {
    package var method: Method
    /// The look-ahead, in seconds.
    package var lookAhead: Double
    /// One error in radians for each scored sample whose present and future poses are known.
    package var errors: [Double]

    /// The root mean square error, in radians; 0 if there are no errors.
    package var rootMeanSquare: Double {
      (errors.reduce(0) { $0 + $1 * $1 } / Double(max(1, errors.count))).squareRoot()
    }

    /// The 95th percentile of the errors, in radians; 0 if there are no errors.
    package var percentile95: Double {
      let sorted = errors.sorted()
      guard !sorted.isEmpty else { return 0 }
      return sorted[min(sorted.count - 1, Int((0.95 * Double(sorted.count - 1)).rounded(.up)))]
    }
  }

  /// Compares the predictions of all methods with the true motion. The method `gyro` is left out if
  /// there are no angular velocities.
  ///
  /// - Parameters:
  ///   - seen: the motion that the predictors receive.
  ///   - truth: the true motion; `seen` if nil.
  ///   - lookAheads: the look-aheads, in seconds, at most 0.2.
  package static func run(
    _ seen: RecordedMotion, truth: RecordedMotion? = nil,
    lookAheads: [Double] = Self.lookAheads
  ) -> [Errors] {
    let truth = truth ?? seen
    let methods = Method.allCases.filter { $0 != .gyro || !seen.angularVelocities.isEmpty }
    var results = lookAheads.flatMap { lookAhead in
      methods.map { Errors(method: $0, lookAhead: lookAhead, errors: []) }
    }
    var predictor = HeadPredictor()
    var line = LeastSquaresPredictor()
    var places = [Int](repeating: 0, count: lookAheads.count)
    for (index, time) in seen.times.enumerated() {
      guard let pose = seen.poses[index] else {
        predictor.restart()
        line.restart()
        continue
      }
      let velocity = seen.angularVelocities.isEmpty ? nil : seen.angularVelocities[index]
      let stamp = Int64(time * 1e9)
      let forecast = predictor.forecast(time: stamp, pose: pose, angularVelocity: velocity)
      line.add(pose, time: stamp)
      guard seen.isScored.isEmpty || seen.isScored[index] else { continue }
      for row in results.indices {
        let place = row / methods.count
        let lookAhead = results[row].lookAhead
        while places[place] < truth.times.count, truth.times[places[place]] < time + lookAhead {
          places[place] += 1
        }
        guard let future = truth.pose(at: time + lookAhead, from: places[place]) else { continue }
        let predicted =
          switch results[row].method {
          case .last: pose
          case .gyro: pose * Quaternion(rotationVector: (velocity ?? .zero) * lookAhead)
          case .leastSquares: line.pose(after: lookAhead)
          case .ours: pose * Quaternion(rotationVector: forecast.turn(after: lookAhead))
          }
        results[row].errors.append(Quaternion.angle(between: predicted, future))
      }
    }
    return results
  }
}
