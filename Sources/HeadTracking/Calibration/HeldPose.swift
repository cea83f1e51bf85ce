// SPDX-License-Identifier: Apache-2.0

public import Geometry

/// Detects when a head is held still in a pose.
public struct HeldPose: Sendable {
  /// The range of accepted angles from the reference pose, in degrees.
  public let distance: ClosedRange<Double>
  private let reference: Quaternion?
  private var recent: [HeadSample] = []

  /// The angle from the reference pose to the newest sample, in degrees; nil without a reference or
  /// before the first sample.
  public var angleDegrees: Double? {
    guard let reference, let newest = recent.last else { return nil }
    return Quaternion.angle(between: reference, newest.headToWorld) * 180 / .pi
  }

  /// Limit for the angle between a sample and the mean pose, in degrees.
  private static let tolerance = 2.0
  /// Seconds for which the head must be held still.
  private static let seconds = 0.8

  /// - Parameters:
  ///   - distance: the range of accepted angles from `reference`, in degrees.
  ///   - reference: the reference pose; nil accepts any pose.
  public init(distance: ClosedRange<Double> = 0...180, from reference: Quaternion? = nil) {
    self.distance = distance
    self.reference = reference
  }

  /// Takes the next sample.
  ///
  /// - Returns: the mean pose of the last 0.8 s. Nil if the samples do not cover this time yet or
  ///   are fewer than 8, if the head moved in this time, or if the mean pose is not at an accepted
  ///   angle from the reference pose.
  public mutating func add(_ sample: HeadSample) -> Quaternion? {
    recent.append(sample)
    let begin = sample.time - Int64(Self.seconds * 1e9)
    // Keep one sample from `begin` or earlier, so that the samples span the required time.
    while recent.count > 1, recent[1].time <= begin { recent.removeFirst() }
    guard recent.count >= 8, recent[0].time <= begin else { return nil }
    let first = recent[0].headToWorld
    let turns = recent.map { (first.conjugate * $0.headToWorld).rotationVector }
    let center = turns.reduce(.zero, +) / Double(turns.count)
    let limit = Self.tolerance * .pi / 180
    guard turns.allSatisfy({ ($0 - center).length < limit }) else { return nil }
    let pose = (first * Quaternion(rotationVector: center)).normalized
    guard let reference else { return pose }
    let degrees = Quaternion.angle(between: reference, pose) * 180 / .pi
    return distance.contains(degrees) ? pose : nil
  }
}
