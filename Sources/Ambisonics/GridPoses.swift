// SPDX-License-Identifier: Apache-2.0

public import Geometry

/// The head poses over the next frames of a stream, one at each grid point; see `PoseGrid`.
public struct GridPoses {
  /// The next frame of the stream.
  public private(set) var frame: Int
  /// `headToWorld` at the last grid point up to `frame`, and at all later points that are needed.
  public private(set) var poses: UnsafePointer<Quaternion>

  /// Describes the poses from a frame on.
  ///
  /// - Parameters:
  ///   - frame: the next frame of the stream.
  ///   - poses: the poses at grid point `frame / 16` and those after it, one more than there are
  ///     cells.
  @_noLocks
  public init(frame: Int, poses: UnsafePointer<Quaternion>) {
    self.frame = frame
    self.poses = poses
  }

  /// Frames of the current cell that are done, 0 to 15.
  public var phase: Int {
    @_noLocks get { frame % PoseGrid.cellFrames }
  }

  @_noLocks
  public mutating func advance(by frames: Int) {
    let point = frame / PoseGrid.cellFrames
    frame += frames
    poses += frame / PoseGrid.cellFrames - point
  }

  /// Takes up to `limit` frames of the current cell; returns nil if `limit` is 0.
  @_noLocks
  public mutating func nextCell(atMost limit: Int) -> GridCell? {
    guard limit > 0 else { return nil }
    let frames = min(PoseGrid.cellFrames - phase, limit)
    let cell = GridCell(frame: frame, frames: frames, poses: poses)
    advance(by: frames)
    return cell
  }
}
