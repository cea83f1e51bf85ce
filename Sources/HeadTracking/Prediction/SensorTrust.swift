// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Geometry

/// How much a tracker's poses scatter, from what three in a row have that is not even motion. The
/// least of the last seconds counts, because a head's acceleration looks like noise (minimum
/// statistics, R. Martin, IEEE Trans. Speech Audio Process. 2001).
struct PoseNoise: Sendable {
  private var square = PoseNoise.initial * PoseNoise.initial
  private var recent = PoseNoise.initial * PoseNoise.initial
  private var poses: (Quaternion, Quaternion)?
  private var times: (Int64, Int64) = (0, 0)
  private var count = 0

  /// 0.1 degrees, radians.
  private static let initial = 0.00175

  /// A head that has moved less than this within 200 ms may not have moved, radians: the farthest
  /// of four noisy distances, with room.
  var still: Double { min(0.05, max(0.0035, 6.5 * realtime_sqrt(square))) }

  mutating func restart() { count = 0 }

  mutating func add(_ pose: Quaternion, _ time: Int64) {
    if count >= 2, let (first, second) = poses {
      let (before, after) = (times.1 - times.0, time - times.1)
      if after < 2 * before, before < 2 * after {
        let share = Double(after) / Double(before)
        let bend =
          (second.conjugate * pose).rotationVector
          + (second.conjugate * first).rotationVector * share
        // Each of three axes has the variance of one pose this often.
        let variances = 3 * (1 + (1 + share) * (1 + share) + share * share)
        take((bend * bend).sum() / variances, seconds: Double(after) * 1e-9)
      }
    }
    poses = (poses?.1 ?? pose, pose)
    times = (times.1, time)
    count = min(count + 1, 2)
  }

  private mutating func take(_ variance: Double, seconds: Double) {
    recent += min(1, seconds / 0.5) * (variance - recent)
    // Doubles within 7 s where nothing holds it down.
    square = min(square * (1 + seconds / 10) + 1e-14, recent)
  }
}

/// Whether a gyroscope says what the poses do, over stretches of 50 ms, in which the noise of two
/// poses is no motion.
struct GyroTrust: Sendable {
  private(set) var isTrusted = true
  private var difference = 0.0
  private var motion = 0.0
  /// The gyroscope's turn since the stretch began.
  private var turn = Quaternion.identity
  private var start: (pose: Quaternion, time: Int64)?

  private static let stretch: Int64 = 50_000_000
  /// Slower motion than this says nothing, 20 degrees a second in rad/s.
  private static let slow = 0.35

  mutating func restart() { start = nil }

  /// - Parameters:
  ///   - gyroscope: since the sample before, radians; zero without one.
  ///   - pose: after it.
  ///   - time: of the pose, nanoseconds.
  mutating func compare(gyroscope step: SIMD3<Double>, pose: Quaternion, time: Int64) {
    guard let start else {
      self.start = (pose, time)
      turn = .identity
      return
    }
    turn = (turn * Quaternion(rotationVector: step)).normalized
    guard time - start.time >= Self.stretch else { return }
    judge(start.pose.conjugate * pose, seconds: Double(time - start.time) * 1e-9)
    self.start = (pose, time)
    turn = .identity
  }

  private mutating func judge(_ truth: Quaternion, seconds: Double) {
    let speed = truth.angle / seconds
    guard speed > Self.slow else { return }
    let error = Quaternion.angle(between: turn, truth) / seconds
    let keep = realtime_exp(-seconds / 0.5)
    difference = keep * difference + seconds * error * error
    motion = keep * motion + seconds * speed * speed
    // Apart, so that it does not change its mind all the time.
    if difference > 0.25 * motion { isTrusted = false }
    if difference < 0.1 * motion { isTrusted = true }
  }
}
