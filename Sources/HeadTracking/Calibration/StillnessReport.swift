// SPDX-License-Identifier: Apache-2.0

import Geometry

/// What a tracker says while it lies still: its rate, its noise, and its gyroscope's bias.
public struct StillnessReport: Sendable, Equatable {
  public let samples: Int
  /// Samples a second.
  public let rate: Double
  /// Standard deviation of the time between samples, seconds, and the longest such time.
  public let jitter: Double
  public let longestInterval: Double
  /// Mean angular velocity in the head's axes as delivered, rad/s; nil where the tracker tells
  /// none.
  public let gyroBias: SIMD3<Double>?
  /// Standard deviation of one sample of it, rad/s.
  public let gyroNoise: SIMD3<Double>?
  /// Standard deviation of one sample of the specific force, m/s2; nil without an accelerometer.
  public let forceNoise: SIMD3<Double>?
  /// Root mean square of a pose's angle from the mean pose, radians, and how fast the pose drifts,
  /// rad/s. Both are 0 where only raw samples come.
  public let poseNoise: Double
  public let poseDrift: Double

  /// Fewer tell nothing.
  static let fewestSamples = 50
  /// A still tracker's pose stays within so many degrees, and its rate below so many a second.
  static let largestTurn = 2.0
  static let largestBias = 5.0

  /// - Parameters:
  ///   - poses: in the order in which they came; may be of a tracker that fuses by itself.
  ///   - inertial: raw samples of the same time; empty where the tracker gives none.
  public init(
    poses: [HeadSample], inertial: [InertialSample] = []
  ) throws(CalibrationError) {
    let times = inertial.isEmpty ? poses.map(\.time) : inertial.map(\.time)
    samples = times.count
    guard samples >= Self.fewestSamples else { throw .tooFewSamples(samples) }
    let intervals = zip(times, times.dropFirst()).map { Double($1 - $0) * 1e-9 }
    let mean = intervals.reduce(0, +) / Double(intervals.count)
    guard mean > 0 else { throw .badValue("all samples bear the same time") }
    rate = 1 / mean
    jitter = Self.deviation(intervals)
    longestInterval = intervals.max() ?? 0
    let rates =
      inertial.isEmpty ? poses.compactMap(\.angularVelocity) : inertial.map(\.angularVelocity)
    // A gyroscope that says exactly zero is none.
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

  /// The spread of the poses about their mean, and the way between the means of both halves.
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
