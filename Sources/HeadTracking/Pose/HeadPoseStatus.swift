// SPDX-License-Identifier: Apache-2.0

public import Geometry

/// The state of a tracker and of the pose made from its samples.
public struct HeadPoseStatus: Sendable, Equatable {
  public enum Freshness: String, Sendable, Equatable {
    /// No sample has been accepted yet.
    case waiting
    case fresh
    /// The newest sample is older than 120 ms and older than five sampling intervals, which count
    /// as at most 0.5 s each. The pose eases to the front.
    case stale
    /// The newest sample has been stale for more than one second.
    case lost
  }

  public var freshness: Freshness
  /// The head pose that the renderer used last, relative to the front of the stage; the identity
  /// before the first use.
  public var pose: Quaternion
  /// The newest accepted sample, in the tracker's own reference frame; nil before the first sample.
  public var latestSample: HeadSample?
  /// The number of samples per second; 0 until the rate is known.
  public var rate: Double
  /// The age of the newest accepted sample; nil before the first sample.
  public var ageMilliseconds: Double?
  /// The number of accepted samples.
  public var acceptedCount: Int
  /// The number of rejected reports and samples.
  public var rejectedCount: Int
  /// The number of jumps of the tracker's reference frame.
  public var discontinuityCount: Int
  /// Whether the stage is fixed to a device instead of the world.
  public var isDeviceRelative: Bool
}

/// When a tracker sample arrived, was processed and took effect, in CLOCK_MONOTONIC nanoseconds.
public struct SampleUse: BitwiseCopyable, Sendable, Equatable {
  /// The time of the sample, `HeadSample.time`.
  public var arrival: Int64
  /// When the pose from the sample was ready for the renderer.
  public var ready: Int64
  /// When the renderer took the sample.
  public var used: Int64
  /// When the first sound rendered with the sample is heard.
  public var heard: Int64

  @_noLocks
  init(arrival: Int64 = 0, ready: Int64 = 0, used: Int64 = 0, heard: Int64 = 0) {
    self.arrival = arrival
    self.ready = ready
    self.used = used
    self.heard = heard
  }
}
