// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Geometry

/// Estimates the noise of a tracker's poses from how far three consecutive poses deviate from
/// uniform motion.
///
/// The smallest deviation of the last few seconds counts, because a head's acceleration looks like
/// noise (minimum statistics, R. Martin, IEEE Trans. Speech Audio Process. 2001).
struct PoseNoise: Sendable {
  private var square = PoseNoise.initial * PoseNoise.initial
  private var recent = PoseNoise.initial * PoseNoise.initial
  private var poses: (Quaternion, Quaternion)?
  private var times: (Int64, Int64) = (0, 0)
  private var count = 0

  /// Initial estimate of the noise, in radians.
  private static let initial = 0.00175

  /// The largest movement within 200 ms that noise alone may explain, in radians.
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
        // The variance of `bend`, summed over three axes, divided by a pose's variance per axis.
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
    // Unless `recent` is smaller, the minimum doubles in about 7 s.
    square = min(square * (1 + seconds / 10) + 1e-14, recent)
  }
}

/// Judges whether a gyroscope agrees with the poses. Each comparison spans at least 50 ms.
struct GyroTrust: Sendable {
  private(set) var isTrusted = true
  private var difference = 0.0
  private var motion = 0.0
  /// The rotation according to the gyroscope since the present comparison began.
  private var turn = Quaternion.identity
  private var start: (pose: Quaternion, time: Int64)?

  private static let stretch: Int64 = 50_000_000
  /// The lowest speed at which the gyroscope is judged, in rad/s.
  private static let slow = 0.35

  mutating func restart() { start = nil }

  /// Takes the next sample.
  ///
  /// - Parameters:
  ///   - step: the rotation since the previous sample, measured by the gyroscope, as a rotation
  ///     vector in radians; zero if unknown.
  ///   - time: the time of the pose, in nanoseconds.
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
    // The two thresholds differ, so that the result does not toggle.
    if difference > 0.25 * motion { isTrusted = false }
    if difference < 0.1 * motion { isTrusted = true }
  }
}
