// SPDX-License-Identifier: Apache-2.0

public import Geometry

/// How a tracker and the pose made from it are doing.
public struct HeadPoseStatus: Sendable, Equatable {
  public enum Freshness: String, Sendable, Equatable {
    /// No sample has come yet.
    case waiting
    case fresh
    /// Samples have stopped; the pose holds, then eases to the front.
    case stale
    /// Samples have stopped so long that the stage is in front.
    case lost
  }

  public var freshness: Freshness
  /// The head relative to the front of the stage, as the renderer asked for it last.
  public var pose: Quaternion
  /// The newest sample in the tracker's own frame.
  public var latestSample: HeadSample?
  /// Samples a second, 0 before it is known.
  public var rate: Double
  /// Age of the newest sample; nil before the first.
  public var ageMilliseconds: Double?
  /// Samples taken.
  public var acceptedCount: Int
  /// Samples refused: not a rotation, or older than one before.
  public var rejectedCount: Int
  /// Jumps of the tracker's reference frame.
  public var discontinuityCount: Int
  /// True while the stage stands still in a device, not in the room.
  public var isDeviceRelative: Bool
}

/// The stations of one tracker sample on its way to the ears, all CLOCK_MONOTONIC nanoseconds.
public struct SampleUse: BitwiseCopyable, Sendable, Equatable {
  /// When the report was read.
  public var arrival: Int64
  /// When its pose, filtered and with its forecast, was there for the renderer.
  public var ready: Int64
  /// When the renderer first asked for a pose after that.
  public var used: Int64
  /// The moment for which it asked: when the first sound made with the sample is to be heard.
  public var heard: Int64

  @_noLocks
  init(arrival: Int64 = 0, ready: Int64 = 0, used: Int64 = 0, heard: Int64 = 0) {
    self.arrival = arrival
    self.ready = ready
    self.used = used
    self.heard = heard
  }
}
