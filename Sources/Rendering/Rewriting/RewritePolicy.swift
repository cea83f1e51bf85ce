// SPDX-License-Identifier: Apache-2.0

private import CRealtime
public import Geometry

/// Decides when the queue is rendered again for a moving head, and how fast the stage is corrected.
///
/// It is a plain value without state, so it can be tested on recorded head movements.
public struct RewritePolicy: Sendable {
  /// Angle between the pose that a frame was rendered with and the newest pose at which rewriting
  /// starts, in radians.
  public var band = 0.3 * Double.pi / 180
  /// The same angle while rewriting continues, in radians.
  public var keptBand = 0.15 * Double.pi / 180
  /// The same angle for the queued sound behind the window, up to the tracker's next sample, in
  /// radians.
  public var tailBand = 1 * Double.pi / 180
  /// How far behind the window the error is checked, in tracker intervals.
  public var tailIntervals = 1.5
  /// The upper limit of that range, in seconds.
  public var longestTailSeconds = 0.1
  /// The shortest duration of a correction, in seconds; large steps reach it.
  public var stepSeconds = 0.008
  /// Tracker noise floor, in radians.
  public var jitterAngle = 0.6 * Double.pi / 180
  /// Jitter of the tracker's time stamps, in seconds. Multiplied by the head's speed, it gives the
  /// angular error that the jitter causes.
  public var jitterSeconds = 0.004
  /// The shortest duration over which an error within noise and jitter is corrected, in seconds.
  public var correctionSeconds = 0.015
  /// The duration over which such an error is corrected, in tracker intervals.
  public var correctionIntervals = 1.5
  /// The longest duration over which such an error is corrected, in seconds.
  public var longestCorrectionSeconds = 0.040
  /// Length of the crossfade to the queued sound at the end of a window, in seconds.
  public var fadeSeconds = 0.005
  /// The shortest window worth rewriting, in seconds.
  public var shortestSeconds = 0.012
  /// The longest time that filters may take to fill, in seconds. Longer filters are not rewritten.
  public var longestRunUpSeconds = 0.2

  @_noLocks
  public init() {}

  /// Returns whether to render the queue again.
  ///
  /// - Parameters:
  ///   - error: the largest angular error in the window, in radians.
  ///   - tailError: the largest angular error behind it, in radians.
  ///   - isGoingOn: whether the queue was rendered again the last time.
  @_noLocks
  public func wantsRewrite(error: Double, tailError: Double, isGoingOn: Bool) -> Bool {
    if tailError > tailBand { return true }
    return error > (isGoingOn ? keptBand : band)
  }

  /// Returns how long the correction of a pose takes, in seconds.
  ///
  /// An error that the tracker's noise and jitter explain is corrected slowly, so that the
  /// correction is inaudible. For a larger error the prediction was wrong or the head moved
  /// suddenly, and the stage should be corrected soon: the duration is divided by
  /// `angle / (jitterAngle + jitterSeconds * speed)`.
  ///
  /// - Parameters:
  ///   - angle: the error, in radians.
  ///   - speed: the speed of the head, in rad/s.
  ///   - interval: the tracker's sample interval, in seconds.
  @_noLocks
  public func turnSeconds(angle: Double, speed: Double, interval: Double) -> Double {
    let wanted = correctionIntervals * interval
    let usual = min(longestCorrectionSeconds, max(correctionSeconds, wanted))
    let expected = jitterAngle + jitterSeconds * speed
    return max(stepSeconds, usual / max(1, angle / expected))
  }
}

/// An angular error that decays to zero: the minimum-jerk path that starts with the given angle and
/// speed and ends at rest (a quintic; Flash and Hogan, J. Neurosci. 1985).
public struct ResidualTurn: Sendable {
  private let angle: SIMD3<Double>
  private let speed: SIMD3<Double>
  private let seconds: Double

  /// - Parameters:
  ///   - angle: the initial rotation vector, in radians.
  ///   - speed: its initial rate of change, in rad/s.
  ///   - seconds: the time until it is zero.
  @_noLocks
  init(_ angle: SIMD3<Double>, speed: SIMD3<Double>, over seconds: Double) {
    (self.angle, self.speed, self.seconds) = (angle, speed, seconds)
  }

  /// Starts from the difference between the poses played at two moments and the newest ones for
  /// them.
  ///
  /// - Parameters:
  ///   - seconds: the time between the two moments.
  ///   - interval: the tracker's sample interval, in seconds.
  @_noLocks
  public init(
    played: Quaternion, playedNext: Quaternion, truth: Quaternion, truthNext: Quaternion,
    apart seconds: Double, interval: Double, policy: RewritePolicy
  ) {
    let angle = (truth.conjugate * played).rotationVector
    let later = (truthNext.conjugate * playedNext).rotationVector
    let duration = policy.turnSeconds(
      angle: realtime_sqrt((angle * angle).sum()),
      speed: Quaternion.angle(between: truth, truthNext) / seconds, interval: interval)
    self.init(angle, speed: (later - angle) / seconds, over: duration)
  }

  /// Returns the remaining error at a time, as a rotation vector.
  @_noLocks
  public func left(after time: Double) -> SIMD3<Double> {
    let u = time / seconds
    guard u < 1 else { return SIMD3(0, 0, 0) }
    // With u = t / T: angle (1 - 10u^3 + 15u^4 - 6u^5) + speed T (u - 6u^3 + 8u^4 - 3u^5).
    let (squared, cubed) = (u * u, u * u * u)
    let position = 1 - cubed * (10 - 15 * u + 6 * squared)
    let slope = u - cubed * (6 - 8 * u + 3 * squared)
    return angle * position + speed * (seconds * slope)
  }
}
