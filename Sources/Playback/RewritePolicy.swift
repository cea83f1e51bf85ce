// SPDX-License-Identifier: Apache-2.0

private import CRealtime

/// When the queue is rendered again for a head that moves, and how fast the stage gets there.
///
/// A plain value without state, so that it can be tried out on recorded heads.
public struct RewritePolicy: Sendable {
  /// Angle between the pose a frame was rendered with and the newest one that begins a rewrite,
  /// radians.
  public var band = 0.3 * Double.pi / 180
  /// The same while rewriting goes on.
  public var keptBand = 0.15 * Double.pi / 180
  /// The same of what is queued behind the piece, which a later rewrite reaches.
  public var tailBand = 1 * Double.pi / 180
  /// The pose gets to where it ought to be within this, seconds.
  public var turnSeconds = 0.010
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

  /// What is left of a turn that is taken back: the shortest way of the least jerk that begins with the
  /// angle and the speed it has and ends at rest (a quintic; Flash and Hogan, J. Neurosci. 1985).
  ///
  /// - Parameters:
  ///   - angle: rotation vector at the beginning, radians.
  ///   - speed: its rate, rad/s.
  ///   - seconds: since the beginning.
  @_noLocks
  public func residual(
    _ angle: SIMD3<Double>, _ speed: SIMD3<Double>, after seconds: Double
  ) -> SIMD3<Double> {
    let u = seconds / turnSeconds
    guard u < 1 else { return SIMD3(0, 0, 0) }
    let (squared, cubed) = (u * u, u * u * u)
    let position = 1 - cubed * (10 - 15 * u + 6 * squared)
    let slope = u - cubed * (6 - 8 * u + 3 * squared)
    return angle * position + speed * (turnSeconds * slope)
  }
}
