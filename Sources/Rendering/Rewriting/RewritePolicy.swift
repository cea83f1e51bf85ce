// SPDX-License-Identifier: Apache-2.0

private import CRealtime
public import Geometry

/// When the queue is rendered again for a head that moves, and how fast the stage gets there.
///
/// A plain value without state, so that it can be tried out on recorded heads.
public struct RewritePolicy: Sendable {
  /// Angle between the pose a frame was rendered with and the newest one that begins a rewrite,
  /// radians.
  public var band = 0.3 * Double.pi / 180
  /// The same while rewriting goes on.
  public var keptBand = 0.15 * Double.pi / 180
  /// The same of what is queued behind the piece until the tracker's next sample.
  public var tailBand = 1 * Double.pi / 180
  /// So many intervals of the tracker are looked at behind the piece.
  public var tailIntervals = 1.5
  /// No more than this, seconds.
  public var longestTailSeconds = 0.1
  /// A step is taken within this, seconds.
  public var stepSeconds = 0.008
  /// So much is noise of a tracker, radians,
  public var jitterAngle = 0.6 * Double.pi / 180
  /// and what the head turns in so many seconds the jitter of its stamps.
  public var jitterSeconds = 0.004
  /// What is explained by these is taken back within this at least, seconds.
  public var correctionSeconds = 0.015
  /// And within so many intervals of the tracker,
  public var correctionIntervals = 1.5
  /// but no longer than this, seconds.
  public var longestCorrectionSeconds = 0.040
  /// At a piece's end the output goes back to what is queued within this, seconds.
  public var fadeSeconds = 0.005
  /// Shorter pieces are not worth their joins, seconds.
  public var shortestSeconds = 0.012
  /// Filters longer than this take too long to fill, seconds.
  public var longestRunUpSeconds = 0.2

  @_noLocks
  public init() {}

  /// Whether the queue is rendered again.
  ///
  /// - Parameters:
  ///   - error: the largest angle in the piece, radians.
  ///   - tailError: likewise behind it.
  ///   - isGoingOn: whether it was rendered again the last time.
  @_noLocks
  public func wantsRewrite(error: Double, tailError: Double, isGoingOn: Bool) -> Bool {
    if tailError > tailBand { return true }
    return error > (isGoingOn ? keptBand : band)
  }

  /// How long the pose takes to where it ought to be, seconds.
  ///
  /// What a tracker's noise and the jitter of its stamps explain is taken back slowly, so that it
  /// is not heard. More is true: the head was predicted wrongly, or steps, and the stage should be
  /// there soon.
  ///
  /// - Parameters:
  ///   - angle: that is wrong, radians.
  ///   - speed: of the head, rad/s.
  ///   - interval: of the tracker, seconds.
  @_noLocks
  public func turnSeconds(angle: Double, speed: Double, interval: Double) -> Double {
    let wanted = correctionIntervals * interval
    let usual = min(longestCorrectionSeconds, max(correctionSeconds, wanted))
    let expected = jitterAngle + jitterSeconds * speed
    return max(stepSeconds, usual / max(1, angle / expected))
  }
}

/// A turn that is taken back: the way of the least jerk that begins with the angle and the speed it
/// has and ends at rest (a quintic; Flash and Hogan, J. Neurosci. 1985).
public struct ResidualTurn: Sendable {
  private let angle: SIMD3<Double>
  private let speed: SIMD3<Double>
  private let seconds: Double

  /// - Parameters:
  ///   - angle: rotation vector at the beginning, radians.
  ///   - speed: its rate, rad/s.
  ///   - seconds: until it is gone.
  @_noLocks
  init(_ angle: SIMD3<Double>, speed: SIMD3<Double>, over seconds: Double) {
    (self.angle, self.speed, self.seconds) = (angle, speed, seconds)
  }

  /// From the poses that were played at two moments to what is known of them now.
  ///
  /// - Parameters:
  ///   - seconds: from the one moment to the other.
  ///   - interval: of the tracker, seconds.
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

  /// What is left of it, as a rotation vector.
  @_noLocks
  public func left(after time: Double) -> SIMD3<Double> {
    let u = time / seconds
    guard u < 1 else { return SIMD3(0, 0, 0) }
    let (squared, cubed) = (u * u, u * u * u)
    let position = 1 - cubed * (10 - 15 * u + 6 * squared)
    let slope = u - cubed * (6 - 8 * u + 3 * squared)
    return angle * position + speed * (seconds * slope)
  }
}
