// SPDX-License-Identifier: Apache-2.0

public import Geometry

/// Consecutive frames of one grid cell, and the poses at both ends of the cell; see `PoseGrid`.
public struct GridCell {
  /// The index of the first frame, counted from the start of the stream.
  public let frame: Int
  /// The number of frames, 1 to 16.
  public let frames: Int
  private let poses: UnsafePointer<Quaternion>

  /// `poses` points to the poses at both ends of the cell. Their memory must outlive this value.
  @_noLocks
  init(frame: Int, frames: Int, poses: UnsafePointer<Quaternion>) {
    self.frame = frame
    self.frames = frames
    self.poses = poses
  }

  public var start: Quaternion {
    @_noLocks get { poses[0] }
  }

  public var end: Quaternion {
    @_noLocks get { poses[1] }
  }

  /// The offset of `frame` from the start of the cell, 0 to 15 frames.
  public var phase: Int {
    @_noLocks get { frame % PoseGrid.cellFrames }
  }

  /// Whether the poses at both ends are equal.
  public var isStill: Bool {
    @_noLocks get { start == end }
  }

  /// The pose halfway from `start` to `end`.
  public var middle: Quaternion {
    @_noLocks get { Quaternion.slerp(start, end, 0.5) }
  }

  /// Returns how gains are interpolated in the cell for a soundfield of order `order`.
  ///
  /// The gains are constant if the cell is still. They follow a parabola if the rotation in the
  /// cell, multiplied by the order, exceeds 0.02 rad, and a straight line otherwise.
  @_noLocks
  public func motion(order: Int) -> GridMotion {
    if isStill { return .still }
    let (a, b) = (start, end)
    let cosine = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z
    let phase = Double(2 * order)
    return phase * phase * (1 - cosine * cosine) > 0.02 * 0.02 ? .bent : .even
  }
}

/// The interpolation of gains in a cell: constant (`still`), linear (`even`) or parabolic (`bent`).
public enum GridMotion: Sendable {
  case still
  case even
  case bent

  var moves: Bool {
    @_noLocks get {
      if case .still = self { false } else { true }
    }
  }

  var bends: Bool {
    @_noLocks get {
      if case .bent = self { true } else { false }
    }
  }
}
