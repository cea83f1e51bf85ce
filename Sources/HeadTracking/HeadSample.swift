// SPDX-License-Identifier: Apache-2.0

public import Geometry

/// What a tracker says at one moment, in the axes of the house: x front, y left, z up.
public struct HeadSample: Sendable, Equatable {
  /// When the sample arrived, CLOCK_MONOTONIC nanoseconds.
  public var time: Int64
  /// The head's orientation in the tracker's own reference frame.
  public var headToWorld: Quaternion
  /// Angular velocity in the head's frame, rad/s; nil where the tracker does not tell.
  public var angularVelocity: SIMD3<Double>?
  /// Changes when the tracker's reference frame jumps; the value itself means nothing.
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
