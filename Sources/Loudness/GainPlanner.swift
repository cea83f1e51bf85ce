// SPDX-License-Identifier: Apache-2.0

private import Glibc

/// A gain that goes to where it should be without ever being heard to move.
///
/// While nothing has sounded yet it is set at once; after that it moves at an even rate in dB.
public struct GainPlanner: Sendable, Equatable {
  /// dB a second; a little less than the 1 dB/s that is allowed.
  public static let rate = 0.9

  /// dB, now.
  public private(set) var gain: Double
  /// dB, where it goes to.
  public private(set) var goal: Double
  /// Whether anything but silence has gone through.
  public private(set) var hasSounded = false

  public init(gain: Double = 0) {
    self.gain = gain
    goal = gain
  }

  /// Sets where the gain goes to, in dB; what is no number is ignored.
  public mutating func aim(at goal: Double) {
    guard goal.isFinite else { return }
    self.goal = goal
    if !hasSounded { gain = goal }
  }

  /// Goes on by a stretch of time.
  ///
  /// - Parameters:
  ///   - seconds: of the stretch.
  ///   - isSilent: whether there is nothing to be heard in it.
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
