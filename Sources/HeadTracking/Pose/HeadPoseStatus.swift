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
