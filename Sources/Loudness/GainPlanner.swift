// SPDX-License-Identifier: Apache-2.0

private import Glibc

/// A gain that moves towards its goal at a constant rate in dB/s.
///
/// Before the first sound, a new goal applies at once.
public struct GainPlanner: Sendable, Equatable {
  /// The rate at which the gain changes [dB/s].
  public static let rate = 0.9

  /// The current gain [dB].
  public private(set) var gain: Double
  /// The gain to reach [dB].
  public private(set) var goal: Double
  /// Whether any period so far contained sound.
  public private(set) var hasSounded = false

  public init(gain: Double = 0) {
    self.gain = gain
    goal = gain
  }

  /// Sets the goal [dB]. Before the first sound, the gain also changes to the goal. Ignores values
  /// that are not finite.
  public mutating func aim(at goal: Double) {
    guard goal.isFinite else { return }
    self.goal = goal
    if !hasSounded { gain = goal }
  }

  /// Advances the gain by a period of time.
  ///
  /// - Parameters:
  ///   - seconds: the length of the period; negative values count as 0.
  ///   - isSilent: whether the period is silent; see `hasSounded`.
  /// - Returns: the linear gains at the start and at the end of the period.
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
