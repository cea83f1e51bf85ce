// SPDX-License-Identifier: Apache-2.0

import Geometry
import HeadTracking
import System

/// Generated head motions, identical in every run.
package enum GeneratedMotion {
  /// The named motions: a head that looks around slowly, one that looks around quickly, and one
  /// that shakes.
  package static var all: [(name: String, motion: RecordedMotion)] {
    [
      ("generated-slow", looks(seconds: 60, reach: 20...60, durations: 0.8...1.6, seed: 1)),
      ("generated-fast", looks(seconds: 60, reach: 40...90, durations: 0.25...0.6, seed: 2)),
      ("generated-shaking", shaking(seconds: 30, hertz: 1.5, degrees: 25)),
    ]
  }

  private static let rate = 500.0
  private static let degree = Double.pi / 180

  /// Returns minimum-jerk turns from one random direction to the next, with a pause of up to 0.5 s
  /// after each turn [Flash and Hogan, J. Neurosci. 1985].
  ///
  /// - Parameters:
  ///   - seconds: the duration of the motion.
  ///   - reach: the change of yaw in each turn, in degrees.
  ///   - durations: the durations of the turns, in seconds.
  ///   - seed: the seed of the random numbers.
  package static func looks(
    seconds: Double, reach: ClosedRange<Double>, durations: ClosedRange<Double>, seed: UInt64
  ) -> RecordedMotion {
    var random = SeededGenerator(seed)
    var (here, goal) = (SIMD2(0.0, 0.0), SIMD2(0.0, 0.0))
    var (begin, duration, rest) = (0.0, 0.5, 0.0)
    return motion(seconds) { time in
      if time > begin + duration + rest {
        here = goal
        let turn = Double.random(in: reach, using: &random)
        // Turn towards the front more often than away from it.
        let sign: Double = Double.random(in: -90...90, using: &random) > here.x ? 1 : -1
        goal = SIMD2(here.x + sign * turn, Double.random(in: -20...20, using: &random))
        begin = time
        duration = Double.random(in: durations, using: &random)
        rest = Double.random(in: 0...0.5, using: &random)
      }
      let s = min(1, (time - begin) / duration)
      return here + (goal - here) * (s * s * s * (10 - 15 * s + 6 * s * s))
    }
  }

  package static func shaking(seconds: Double, hertz: Double, degrees: Double) -> RecordedMotion {
    motion(seconds) { SIMD2(degrees * HalfTurns.sine(2 * hertz * $0), 0) }
  }

  /// Returns the motion of a head that turns about the vertical axis at a constant rate.
  package static func spinning(
    seconds: Double, degreesPerSecond: Double
  ) -> RecordedMotion {
    motion(seconds) { SIMD2(degreesPerSecond * $0, 0) }
  }

  /// Samples a motion at 500 Hz. `look` is called with ascending times in seconds, and returns yaw
  /// and pitch in degrees.
  private static func motion(
    _ seconds: Double, _ look: (Double) -> SIMD2<Double>
  ) -> RecordedMotion {
    let times = (0...Int(seconds * rate)).map { Double($0) / rate }
    let poses = times.map { time in
      let angles = look(time) * degree
      return Quaternion(rotationVector: SIMD3(0, 0, angles.x))
        * Quaternion(rotationVector: SIMD3(0, -angles.y, 0))
    }
    let velocities = poses.indices.map { index in
      let (from, to) = (max(0, index - 1), min(poses.count - 1, index + 1))
      let turn = (poses[from].conjugate * poses[to]).rotationVector
      return turn / (times[to] - times[from])
    }
    return RecordedMotion(times: times, poses: poses, angularVelocities: velocities)
  }
}
