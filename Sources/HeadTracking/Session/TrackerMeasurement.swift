// SPDX-License-Identifier: Apache-2.0

/// A sample as it leaves a tracker, for whoever records it.
public struct TrackerMeasurement: Sendable, Equatable {
  /// The orientation in the tracker's own reference frame, fused by the tracker or here.
  public var head: HeadSample
  /// Nil where the tracker fuses itself.
  public var inertial: InertialSample?

  public init(head: HeadSample, inertial: InertialSample? = nil) {
    self.head = head
    self.inertial = inertial
  }
}
