// SPDX-License-Identifier: Apache-2.0

import Geometry

/// Measurements of a tracker at rest: its rate, its noise, and its gyroscope's bias.
public struct StillnessReport: Sendable, Equatable {
  public let samples: Int
  /// Samples per second.
  public let rate: Double
  /// Standard deviation of the time between samples, and the longest such time, in seconds.
  public let jitter: Double
  public let longestInterval: Double
  /// Mean angular velocity in rad/s, in the axes that the driver delivers; nil if the tracker does
  /// not report it.
  public let gyroBias: SIMD3<Double>?
  /// Standard deviation of one sample of the angular velocity, in rad/s.
  public let gyroNoise: SIMD3<Double>?
  /// Standard deviation of one sample of the specific force, in m/s2; nil without an accelerometer.
  public let forceNoise: SIMD3<Double>?
  /// Root mean square angle between a pose and the mean pose, in radians, and the drift of the
  /// pose, in rad/s. Both are 0 if there are raw samples.
  public let poseNoise: Double
  public let poseDrift: Double

  /// Smallest number of samples for a reliable result.
  static let fewestSamples = 50
  /// Limits for a tracker at rest: the angle from the mean pose, in degrees, and the bias and noise
  /// of its rate, in degrees/s.
  static let largestTurn = 2.0
  static let largestBias = 5.0

  /// Evaluates the samples of a tracker at rest.
  ///
  /// - Parameters:
  ///   - poses: in order of arrival; used only if `inertial` is empty.
  ///   - inertial: raw samples from the same period; empty if the tracker reports none.
  ///
  /// - Throws: `tooFewSamples`, `badValue`, `implausibleBias` or `moved`.
  public init(
    poses: [HeadSample], inertial: [InertialSample] = []
  ) throws(CalibrationError) {
    let times = inertial.isEmpty ? poses.map(\.time) : inertial.map(\.time)
    samples = times.count
    guard samples >= Self.fewestSamples else { throw .tooFewSamples(samples) }
    let intervals = zip(times, times.dropFirst()).map { Double($1 - $0) * 1e-9 }
    let mean = intervals.reduce(0, +) / Double(intervals.count)
    guard mean > 0 else { throw .badValue("all samples have the same time") }
    rate = 1 / mean
    jitter = Self.deviation(intervals)
    longestInterval = intervals.max() ?? 0
    let rates =
      inertial.isEmpty ? poses.compactMap(\.angularVelocity) : inertial.map(\.angularVelocity)
    // A gyroscope that reads exactly zero is absent.
    let hasRates = rates.count == samples && rates.contains { $0 != .zero }
    gyroBias = hasRates ? Self.mean(rates) : nil
    gyroNoise = hasRates ? Self.deviation(rates) : nil
    forceNoise = inertial.isEmpty ? nil : Self.deviation(inertial.map(\.specificForce))
    (poseNoise, poseDrift) = inertial.isEmpty ? try Self.pose(poses) : (0, 0)
    let bias = (gyroBias ?? .zero).length * 180 / .pi
    guard bias <= Self.largestBias else { throw .implausibleBias(degreesPerSecond: bias) }
    let spread = (gyroNoise ?? .zero).length * 180 / .pi
    guard spread <= Self.largestBias else { throw .moved(degrees: spread) }
  }

  /// Returns the RMS deviation of the poses from their mean, and the drift between the means of the
  /// two halves.
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
