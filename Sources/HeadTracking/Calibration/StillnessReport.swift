// SPDX-License-Identifier: Apache-2.0

import Geometry

/// Measurements of a tracker at rest: sampling rate, noise and gyroscope bias.
public struct StillnessReport: Sendable, Equatable {
  public let samples: Int
  /// Samples per second.
  public let rate: Double
  /// Standard deviation of the time between samples, in seconds.
  public let jitter: Double
  /// Longest time between two consecutive samples, in seconds.
  public let longestInterval: Double
  /// Mean angular velocity in rad/s, in the axes of the driver's samples. Nil if a sample has no
  /// angular velocity, or if all angular velocities are zero.
  public let gyroBias: SIMD3<Double>?
  /// Standard deviation of the angular velocity on each axis, in rad/s; nil if `gyroBias` is nil.
  public let gyroNoise: SIMD3<Double>?
  /// Standard deviation of the specific force on each axis, in m/s2; nil without raw samples.
  public let forceNoise: SIMD3<Double>?
  /// Root mean square angle from the mean pose, in radians; 0 if there are raw samples.
  public let poseNoise: Double
  /// Drift of the pose, in rad/s; 0 if there are raw samples.
  public let poseDrift: Double

  /// Smallest accepted number of samples.
  static let fewestSamples = 50
  /// Largest accepted angle between a pose and the mean pose, in degrees.
  static let largestTurn = 2.0
  /// Largest accepted mean and largest accepted standard deviation of the angular velocity at rest,
  /// in degrees/s.
  static let largestBias = 5.0

  /// Evaluates the samples of a tracker at rest.
  ///
  /// - Parameters:
  ///   - poses: the samples in order of arrival; used only if `inertial` is empty.
  ///   - inertial: the raw samples in order of arrival; empty if the tracker reports none.
  ///
  /// - Throws: `tooFewSamples`, `implausibleBias`, `turned` or `moved`; `badValue` if the last
  ///   sample is not later than the first.
  public init(
    poses: [HeadSample], inertial: [InertialSample] = []
  ) throws(CalibrationError) {
    let times = inertial.isEmpty ? poses.map(\.time) : inertial.map(\.time)
    samples = times.count
    guard samples >= Self.fewestSamples else { throw .tooFewSamples(samples) }
    let intervals = zip(times, times.dropFirst()).map { Double($1 - $0) * 1e-9 }
    let mean = intervals.reduce(0, +) / Double(intervals.count)
    guard mean > 0 else { throw .badValue("the times of the samples do not increase") }
    rate = 1 / mean
    jitter = Self.deviation(intervals)
    longestInterval = intervals.max() ?? 0
    let rates =
      inertial.isEmpty ? poses.compactMap(\.angularVelocity) : inertial.map(\.angularVelocity)
    // If all rates are exactly zero, the tracker has no gyroscope.
    let hasRates = rates.count == samples && rates.contains { $0 != .zero }
    gyroBias = hasRates ? Self.mean(rates) : nil
    gyroNoise = hasRates ? Self.deviation(rates) : nil
    forceNoise = inertial.isEmpty ? nil : Self.deviation(inertial.map(\.specificForce))
    (poseNoise, poseDrift) = inertial.isEmpty ? try Self.pose(poses) : (0, 0)
    let bias = (gyroBias ?? .zero).length * 180 / .pi
    guard bias <= Self.largestBias else { throw .implausibleBias(degreesPerSecond: bias) }
    let spread = (gyroNoise ?? .zero).length * 180 / .pi
    guard spread <= Self.largestBias else { throw .turned(degreesPerSecond: spread) }
  }

  /// Returns the root mean square angle from the mean pose, in radians, and the drift, in rad/s.
  ///
  /// - Throws: `moved` if the angle between a pose and the mean pose is above `largestTurn`.
  private static func pose(
    _ poses: [HeadSample]
  ) throws(CalibrationError) -> (noise: Double, drift: Double) {
    let middle = poses[poses.count / 2].headToWorld
    let offsets = poses.map { (middle.conjugate * $0.headToWorld).rotationVector }
    let center = mean(offsets)
    let angles = offsets.map { ($0 - center).length }
    let largest = (angles.max() ?? 0) * 180 / .pi
    guard largest <= largestTurn else { throw .moved(degrees: largest) }
    let half = poses.count / 2
    let way = mean(Array(offsets[half...])) - mean(Array(offsets[..<half]))
    let seconds = Double(poses[poses.count - 1].time - poses[0].time) * 0.5e-9
    let squares = angles.reduce(0) { $0 + $1 * $1 } / Double(angles.count)
    return (squares.squareRoot(), seconds > 0 ? way.length / seconds : 0)
  }

  private static func mean(_ values: [SIMD3<Double>]) -> SIMD3<Double> {
    values.reduce(.zero, +) / Double(max(1, values.count))
  }

  private static func deviation(_ values: [SIMD3<Double>]) -> SIMD3<Double> {
    let center = mean(values)
    let variance = mean(values.map { ($0 - center) * ($0 - center) })
    return variance.squareRoot()
  }

  private static func deviation(_ values: [Double]) -> Double {
    deviation(values.map { SIMD3($0, 0, 0) }).x
  }
}
