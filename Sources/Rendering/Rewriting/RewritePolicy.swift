// SPDX-License-Identifier: Apache-2.0

private import CRealtime
public import Geometry

/// Decides when queued sound is rendered again, and how fast the stage is corrected.
public struct RewritePolicy: Sendable {
  /// The error above which rewriting starts, in radians. The error is the angle between the played
  /// pose and the newest pose.
  public var band = 0.3 * Double.pi / 180
  /// The error above which rewriting continues once it has started, in radians.
  public var keptBand = 0.15 * Double.pi / 180
  /// The error above which sound after the window causes rewriting, in radians.
  public var tailBand = 1 * Double.pi / 180
  /// The duration of the checked sound after the window, in tracker intervals.
  public var tailIntervals = 1.5
  /// The maximum duration of the checked sound after the window, in seconds.
  public var longestTailSeconds = 0.1
  /// The shortest duration of a correction, in seconds.
  public var stepSeconds = 0.008
  /// The noise floor of the tracker, in radians.
  public var jitterAngle = 0.6 * Double.pi / 180
  /// The jitter of the tracker's timestamps, in seconds.
  public var jitterSeconds = 0.004
  /// The lower limit of the usual duration of a correction, in seconds; see `correctionIntervals`.
  public var correctionSeconds = 0.015
  /// The usual duration of a correction, in tracker intervals. It applies to errors that noise and
  /// jitter can explain.
  public var correctionIntervals = 1.5
  /// The longest duration of a correction, in seconds.
  public var longestCorrectionSeconds = 0.040
  /// The length of the crossfade at the end of a window, in seconds. The crossfade at the start of
  /// the window has the same length if the old sound there is a mixture of two renderings.
  public var fadeSeconds = 0.005
  /// The duration of the shortest window that is rewritten, in seconds.
  public var shortestSeconds = 0.012
  /// The longest duration of the past input that fills the filters before rewriting, in seconds.
  public var longestRunUpSeconds = 0.2

  @_noLocks
  public init() {}

  /// Returns whether to render the queue again.
  ///
  /// - Parameters:
  ///   - error: the largest angular error in the window, in radians.
  ///   - tailError: the largest angular error in the checked sound after the window, in radians.
  ///   - isGoingOn: whether the last check led to rewriting.
  @_noLocks
  public func wantsRewrite(error: Double, tailError: Double, isGoingOn: Bool) -> Bool {
    if tailError > tailBand { return true }
    return error > (isGoingOn ? keptBand : band)
  }

  /// Returns how long the correction of a pose takes, in seconds.
  ///
  /// Errors up to the limit `jitterAngle + jitterSeconds * speed` can be noise and jitter of the
  /// tracker. They are corrected in the usual duration (`correctionIntervals`). For a larger error,
  /// this duration is divided by the ratio of `angle` to the limit, down to `stepSeconds`.
  ///
  /// - Parameters:
  ///   - angle: the error, in radians.
  ///   - speed: the angular speed of the head, in rad/s.
  ///   - interval: the tracker's sample interval, in seconds.
  @_noLocks
  public func turnSeconds(angle: Double, speed: Double, interval: Double) -> Double {
    let wanted = correctionIntervals * interval
    let usual = min(longestCorrectionSeconds, max(correctionSeconds, wanted))
    let expected = jitterAngle + jitterSeconds * speed
    return max(stepSeconds, usual / max(1, angle / expected))
  }
}

/// An angular error that decays to zero along a minimum-jerk path (a quintic; Flash and Hogan, J.
/// Neurosci. 1985).
public struct ResidualTurn: Sendable {
  private let angle: SIMD3<Double>
  private let speed: SIMD3<Double>
  private let seconds: Double

  /// Creates an error from its initial state.
  ///
  /// - Parameters:
  ///   - angle: the initial error, as a rotation vector in radians.
  ///   - speed: the initial rate of change of this vector, in rad/s.
  ///   - seconds: the duration of the decay.
  @_noLocks
  init(_ angle: SIMD3<Double>, speed: SIMD3<Double>, over seconds: Double) {
    (self.angle, self.speed, self.seconds) = (angle, speed, seconds)
  }

  /// Creates the error from the played and the newest poses at two moments.
  ///
  /// - Parameters:
  ///   - played: the pose played at the first moment.
  ///   - playedNext: the pose played at the second moment.
  ///   - truth: the newest pose for the first moment.
  ///   - truthNext: the newest pose for the second moment.
  ///   - seconds: the time between the two moments, in seconds.
  ///   - interval: the tracker's sample interval, in seconds.
  ///   - policy: determines the duration of the correction.
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

  /// Returns the error after `time` seconds, as a rotation vector in radians.
  @_noLocks
  public func left(after time: Double) -> SIMD3<Double> {
    let u = time / seconds
    guard u < 1 else { return SIMD3(0, 0, 0) }
    // With time t, duration T and u = t / T: angle (1 - 10u^3 + 15u^4 - 6u^5) + speed T (u - 6u^3 +
    // 8u^4 - 3u^5).
    let (squared, cubed) = (u * u, u * u * u)
    let position = 1 - cubed * (10 - 15 * u + 6 * squared)
    let slope = u - cubed * (6 - 8 * u + 3 * squared)
    return angle * position + speed * (seconds * slope)
  }
}
