// SPDX-License-Identifier: Apache-2.0

public import Geometry

/// One sample from a tracker, in the project's axes (x front, y left, z up). An uncalibrated sample
/// can have other axes.
public struct HeadSample: Sendable, Equatable {
  /// The time of the sample, in CLOCK_MONOTONIC nanoseconds: when the sample was taken or, if that
  /// is unknown, when it arrived.
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
