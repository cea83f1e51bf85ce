// SPDX-License-Identifier: Apache-2.0

import CRealtime

/// Brings the front of the stage to where the head rests, too slowly to be heard.
///
/// Trackers without a compass drift in yaw; pitch and roll are gravity's and do not. A head that
/// rests, turned by less than `near` from the front, is taken to look ahead: what is
/// left between the two is drift. The drift itself moves the centre, so `near` is room
/// for what gathers while the head is busy; a head that rests beyond it looks at something else,
/// for however long. Rest is a matter of yaw alone: a nod, or reading with the head bent, is rest.
///
/// The front follows at an eighth of the gap a second, at most 0.8 degrees a second, and gains
/// speed within seconds: below 1 degree a second a stage is not heard to move.
struct Recentring: Sendable {
  /// Radians from the front within which a resting head is taken to look ahead.
  static let near = 15.0 * .pi / 180
  /// Radians the yaw may stray from its mean of the last second at rest.
  static let still = 4.0 * .pi / 180
  /// Seconds the head must have rested.
  static let patience = 2.0
  /// Radians a second.
  static let fastest = 0.8 * .pi / 180
  /// Seconds in which the gap falls to 1/e.
  static let time = 8.0
  /// Radians a second gained in a second.
  static let gain = 0.5 * .pi / 180
  /// Beyond this the nose says little of the yaw, radians.
  static let steep = 1.0

  private var mean = 0.0
  private var rested = 0.0
  private var rate = 0.0
  private var hasBegun = false

  /// How far the head's yaw is to be turned in this step, radians.
  ///
  /// - Parameters:
  ///   - yaw: of the head from the front, radians, -pi to pi.
  ///   - elevation: of the nose, radians.
  ///   - seconds: since the step before.
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
    // Faster off than on: a head that turns away leaves the stage where it is.
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
