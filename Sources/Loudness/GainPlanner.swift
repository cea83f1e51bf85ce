// SPDX-License-Identifier: Apache-2.0

private import Glibc

/// A gain that moves to its goal inaudibly.
///
/// Before the first sound, a new goal applies at once. After that, the gain moves at a constant
/// rate in dB.
public struct GainPlanner: Sendable, Equatable {
  /// Rate of gain change, in dB/s; just below the permitted 1 dB/s.
  public static let rate = 0.9

  /// The current gain, in dB.
  public private(set) var gain: Double
  /// The gain to reach, in dB.
  public private(set) var goal: Double
  /// Whether anything but silence has passed.
  public private(set) var hasSounded = false

  public init(gain: Double = 0) {
    self.gain = gain
    goal = gain
  }

  /// Sets the goal, in dB. Values that are not finite are ignored.
  public mutating func aim(at goal: Double) {
    guard goal.isFinite else { return }
    self.goal = goal
    if !hasSounded { gain = goal }
  }

  /// Advances by a period of time.
  ///
  /// - Parameters:
  ///   - seconds: the length of the period.
  ///   - isSilent: whether the period is silent.
  /// - Returns: the linear gains at its start and at its end.
  public mutating func advance(
    seconds: Double, isSilent: Bool
  ) -> (start: Float, end: Float) {
    if !isSilent { hasSounded = true }
    let before = gain
    let step = Self.rate * max(0, seconds)
    gain += max(-step, min(step, goal - gain))
    return (Float(pow(10, before / 20)), Float(pow(10, gain / 20)))
  }
}
