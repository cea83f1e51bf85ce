// SPDX-License-Identifier: Apache-2.0

public import Geometry

/// The state of a tracker and of the pose made from its samples.
public struct HeadPoseStatus: Sendable, Equatable {
  public enum Freshness: String, Sendable, Equatable {
    /// No sample has arrived yet.
    case waiting
    case fresh
    /// The newest sample is older than the stale limit; the pose eases to the front.
    case stale
    /// The newest sample is so old that the pose has reached the front.
    case lost
  }

  public var freshness: Freshness
  /// The head pose relative to the front of the stage, as the renderer last requested it.
  public var pose: Quaternion
  /// The newest sample, in the tracker's own frame.
  public var latestSample: HeadSample?
  /// Samples per second; 0 until it is known.
  public var rate: Double
  /// Age of the newest sample; nil before the first.
  public var ageMilliseconds: Double?
  /// Number of samples accepted.
  public var acceptedCount: Int
  /// Number of reports rejected: without a sample, not a rotation, or not newer than the previous
  /// one.
  public var rejectedCount: Int
  /// Number of jumps of the tracker's reference frame.
  public var discontinuityCount: Int
  /// True while the stage is fixed to a device instead of the room.
  public var isDeviceRelative: Bool
}

/// When one tracker sample passed each stage on its way to the ears, in CLOCK_MONOTONIC
/// nanoseconds.
public struct SampleUse: BitwiseCopyable, Sendable, Equatable {
  /// When the report was read.
  public var arrival: Int64
  /// When its filtered pose and forecast became available to the renderer.
  public var ready: Int64
  /// When the renderer first requested a pose after that.
  public var used: Int64
  /// The time it requested: when the first sound rendered with the sample is heard.
  public var heard: Int64

  @_noLocks
  init(arrival: Int64 = 0, ready: Int64 = 0, used: Int64 = 0, heard: Int64 = 0) {
    self.arrival = arrival
    self.ready = ready
    self.used = used
    self.heard = heard
  }
}
