// SPDX-License-Identifier: Apache-2.0

public import Geometry

/// One sample from a tracker, in the project's axes (x front, y left, z up). Samples of an
/// uncalibrated tracker can have other axes.
public struct HeadSample: Sendable, Equatable {
  /// The time at which the sample was taken or, if that is unknown, at which it arrived, in
  /// CLOCK_MONOTONIC nanoseconds.
  public var time: Int64
  /// The head's orientation in the tracker's own reference frame.
  public var headToWorld: Quaternion
  /// Angular velocity in the head's frame, in rad/s; nil if the tracker does not report it.
  public var angularVelocity: SIMD3<Double>?
  /// A counter that changes when the tracker's reference frame jumps.
  public var discontinuityCount: Int

  public init(
    time: Int64, headToWorld: Quaternion, angularVelocity: SIMD3<Double>? = nil,
    discontinuityCount: Int = 0
  ) {
    self.time = time
    self.headToWorld = headToWorld
    self.angularVelocity = angularVelocity
    self.discontinuityCount = discontinuityCount
  }
}
