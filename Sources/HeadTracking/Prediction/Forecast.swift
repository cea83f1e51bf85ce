// SPDX-License-Identifier: Apache-2.0

/// The predicted motion of a head: mean angular velocities over several look-aheads.
///
/// ## Threading
/// A forecast is a plain value. All functions are real-time safe.
public struct Forecast: BitwiseCopyable, Sendable, Equatable {
  /// Look-aheads of the predicted mean velocities, in seconds.
  public static let lookAheads = [0.020, 0.050, 0.100, 0.200]

  /// The present angular velocity and the predicted mean angular velocities over the next 20, 50,
  /// 100 and 200 ms, in the head's frame, in rad/s.
  var means: InlineArray<5, SIMD3<Double>>

  /// Creates the forecast for a head at rest.
  @_noLocks
  public init() {
    means = InlineArray(repeating: SIMD3(0, 0, 0))
  }

  /// Creates the forecast for a head that continues at constant velocity.
  ///
  /// - Parameter angularVelocity: the constant velocity, in the head's frame, in rad/s.
  @_noLocks
  public init(angularVelocity: SIMD3<Double>) {
    means = InlineArray(repeating: angularVelocity)
  }

  @_noLocks
  public static func == (a: Forecast, b: Forecast) -> Bool {
    for index in 0..<5 {
      let difference = a.means[index] - b.means[index]
      if (difference * difference).sum() != 0 { return false }
    }
    return true
  }

  /// Returns the rotation vector of the predicted rotation, in the head's frame, in radians.
  ///
  /// - Parameter seconds: the look-ahead; beyond 200 ms the head is assumed to rest.
  @_noLocks
  public func turn(after seconds: Double) -> SIMD3<Double> {
    if seconds <= 0 { return means[0] * seconds }
    if seconds >= 0.200 { return means[4] * 0.200 }
    if seconds < 0.020 { return mean(0, seconds / 0.020) * seconds }
    if seconds < 0.050 { return mean(1, (seconds - 0.020) / 0.030) * seconds }
    if seconds < 0.100 { return mean(2, (seconds - 0.050) / 0.050) * seconds }
    return mean(3, (seconds - 0.100) / 0.100) * seconds
  }

  @_noLocks
  private func mean(_ index: Int, _ fraction: Double) -> SIMD3<Double> {
    means[index] + (means[index + 1] - means[index]) * fraction
  }
}
