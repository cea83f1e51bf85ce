// SPDX-License-Identifier: Apache-2.0

import CRealtime

/// Corrects yaw drift by moving the front of the stage, inaudibly slowly, towards the direction
/// that a resting head faces.
///
/// A head that rests within `near` of the front is assumed to be facing straight ahead, so that its
/// yaw is drift. Therefore, `near` must exceed the drift that accumulates while the head does not
/// rest. Only a change of yaw counts as motion.
///
/// The speed of the front approaches the angle between front and head divided by 8 s, but is at
/// most 0.8 degrees/s. Motion of the stage below 1 degree/s is inaudible.
struct Recentring: Sendable {
  /// Largest yaw from the front at which a resting head is assumed to face straight ahead, in
  /// radians.
  static let near = 15.0 * .pi / 180
  /// Largest deviation of the yaw from its running mean that counts as rest, in radians. The time
  /// constant of the mean is 1 s.
  static let still = 4.0 * .pi / 180
  /// Seconds for which the head must have rested before the front moves.
  static let patience = 2.0
  /// Highest speed of the correction, in rad/s.
  static let fastest = 0.8 * .pi / 180
  /// Time constant of the correction, in seconds.
  static let time = 8.0
  /// Largest acceleration of the correction while the head rests, in rad/s^2.
  static let gain = 0.5 * .pi / 180
  /// Elevation of the nose, up or down, above which the yaw is unreliable, in radians.
  static let steep = 1.0

  private var mean = 0.0
  private var rested = 0.0
  private var rate = 0.0
  private var hasBegun = false

  /// Advances by one sample and returns the correction to add to the head's yaw. Angles are in
  /// radians; `yaw` is from -pi to pi and relative to the front. `seconds` is the time since the
  /// previous sample.
  mutating func step(yaw: Double, elevation: Double, seconds: Double) -> Double {
    guard hasBegun, seconds > 0, seconds < 0.5 else {
      restart(at: yaw)
      return 0
    }
    let away = Self.wrapped(yaw - mean)
    mean = Self.wrapped(mean + away * (1 - realtime_exp(-seconds)))
    let isResting = abs(away) < Self.still && abs(yaw) < Self.near && abs(elevation) < Self.steep
    rested = isResting ? rested + seconds : 0
    var wanted = 0.0
    if rested >= Self.patience {
      wanted = min(Self.fastest, max(-Self.fastest, -yaw / Self.time))
    }
    // Stop the correction faster than it starts, so that the stage does not follow a head that
    // turns away.
    let change = Self.gain * seconds * (rested > 0 ? 1 : 8)
    rate += min(change, max(-change, wanted - rate))
    if rested == 0, rate * yaw > 0 { rate = 0 }
    let step = rate * seconds
    mean = Self.wrapped(mean + step)
    return step
  }

  mutating func restart(at yaw: Double) {
    (mean, rested, rate, hasBegun) = (yaw, 0, 0, true)
  }

  private static func wrapped(_ angle: Double) -> Double {
    angle > .pi ? angle - 2 * .pi : angle < -.pi ? angle + 2 * .pi : angle
  }
}
