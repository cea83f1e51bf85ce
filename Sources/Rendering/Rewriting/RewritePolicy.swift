// SPDX-License-Identifier: Apache-2.0

private import CRealtime
public import Geometry

/// Decides when the queue is rendered again for a moving head, and how fast the stage is corrected.
///
/// The policy is a plain value without state, so it can be tested on recorded head movements.
public struct RewritePolicy: Sendable {
  /// The error above which rewriting starts, in radians. The error is the angle between the pose
  /// with which a frame was rendered and the newest pose for that frame.
  public var band = 0.3 * Double.pi / 180
  /// The error above which rewriting continues once it has started, in radians.
  public var keptBand = 0.15 * Double.pi / 180
  /// The error above which queued sound after the window causes rewriting, in radians. That sound
  /// may play before the tracker's next sample arrives.
  public var tailBand = 1 * Double.pi / 180
  /// The duration of the sound that is checked after the window, in tracker intervals.
  public var tailIntervals = 1.5
  /// The maximum duration of the sound that is checked after the window, in seconds.
  public var longestTailSeconds = 0.1
  /// The shortest duration of a correction, in seconds. It applies to large errors.
  public var stepSeconds = 0.008
  /// The noise floor of the tracker, in radians.
  public var jitterAngle = 0.6 * Double.pi / 180
  /// The jitter of the tracker's timestamps, in seconds. Multiplied by the angular speed of the
  /// head, it gives the angular error that the jitter causes.
  public var jitterSeconds = 0.004
  /// The shortest time, in seconds, in which an error that noise and jitter explain is corrected.
  public var correctionSeconds = 0.015
  /// The usual time, in tracker intervals, in which an error that noise and jitter explain is
  /// corrected.
  public var correctionIntervals = 1.5
  /// The longest duration of a correction, in seconds.
  public var longestCorrectionSeconds = 0.040
  /// The length of the crossfade to the queued sound at the end of a window, in seconds. A
  /// crossfade at the start has the same length if the new sound cannot continue the queued sound
  /// exactly.
  public var fadeSeconds = 0.005
  /// The duration of the shortest window that is rewritten, in seconds.
  public var shortestSeconds = 0.012
  /// The largest amount of past input, in seconds, with which filters may be filled before
  /// rewriting. The output of filters that need more is not rewritten.
  public var longestRunUpSeconds = 0.2

  @_noLocks
  public init() {}

  /// Returns whether to render the queue again.
  ///
  /// - Parameters:
  ///   - error: the largest angular error in the window, in radians.
  ///   - tailError: the largest angular error in the sound checked after the window, in radians.
  ///   - isGoingOn: whether the last check led to rewriting.
  @_noLocks
  public func wantsRewrite(error: Double, tailError: Double, isGoingOn: Bool) -> Bool {
    if tailError > tailBand { return true }
    return error > (isGoingOn ? keptBand : band)
  }

  /// Returns how long the correction of a pose takes, in seconds.
  ///
  /// An error that the tracker's noise and jitter explain is corrected slowly, so that the
  /// correction is inaudible. A larger error means that the prediction was wrong or the head moved
  /// suddenly, so the stage is corrected faster: the duration is divided by
  /// `angle / (jitterAngle + jitterSeconds * speed)`, down to `stepSeconds`.
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

/// An angular error that decays to zero. It follows the minimum-jerk path from the given angle and
/// speed to rest (a quintic; Flash and Hogan, J. Neurosci. 1985).
public struct ResidualTurn: Sendable {
  private let angle: SIMD3<Double>
  private let speed: SIMD3<Double>
  private let seconds: Double

  /// Creates an error with a given start.
  ///
  /// - Parameters:
  ///   - angle: the initial rotation vector, in radians.
  ///   - speed: the initial rate of change of that vector, in rad/s.
  ///   - seconds: the time until the error is zero, in seconds.
  @_noLocks
  init(_ angle: SIMD3<Double>, speed: SIMD3<Double>, over seconds: Double) {
    (self.angle, self.speed, self.seconds) = (angle, speed, seconds)
  }

  /// Creates the error that is the difference between the poses played at two moments and the
  /// newest poses for these moments.
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

  /// Returns the error that remains `time` seconds after the start, as a rotation vector in
  /// radians.
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
