// SPDX-License-Identifier: Apache-2.0

public import Geometry

/// The head poses over the next frames of a stream, at grid points; see `PoseGrid`.
public struct GridPoses {
  /// The index of the next frame in the stream.
  public private(set) var frame: Int
  /// The poses at consecutive grid points, beginning with the last point at or before `frame`.
  public private(set) var poses: UnsafePointer<Quaternion>

  /// Creates the poses for the frames that start at `frame`.
  ///
  /// - Parameters:
  ///   - frame: the index of the next frame in the stream.
  ///   - poses: the poses at consecutive grid points, from point `frame / 16` to the end of the
  ///     last cell that is used. Their memory must outlive this value.
  @_noLocks
  public init(frame: Int, poses: UnsafePointer<Quaternion>) {
    self.frame = frame
    self.poses = poses
  }

  /// The offset of `frame` from the start of the current cell, 0 to 15 frames.
  public var phase: Int {
    @_noLocks get { frame % PoseGrid.cellFrames }
  }

  @_noLocks
  public mutating func advance(by frames: Int) {
    let point = frame / PoseGrid.cellFrames
    frame += frames
    poses += frame / PoseGrid.cellFrames - point
  }

  /// Returns the remaining frames of the current cell, at most `limit`, and advances past them.
  /// Returns nil if `limit` is not positive.
  @_noLocks
  public mutating func nextCell(atMost limit: Int) -> GridCell? {
    guard limit > 0 else { return nil }
    let frames = min(PoseGrid.cellFrames - phase, limit)
    let cell = GridCell(frame: frame, frames: frames, poses: poses)
    advance(by: frames)
    return cell
  }
}
