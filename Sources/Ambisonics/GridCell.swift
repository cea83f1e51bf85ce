// SPDX-License-Identifier: Apache-2.0

public import Geometry

/// Frames of one cell of the grid and the poses at the cell's ends.
public struct GridCell {
  /// The first of the frames, counted in the stream.
  public let frame: Int
  /// How many there are, 1 to 16.
  public let frames: Int
  private let poses: UnsafePointer<Quaternion>

  /// - Parameter poses: at the cell's ends; valid as long as the cell is used.
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

  /// Frames of the cell that lie before.
  public var phase: Int {
    @_noLocks get { frame % PoseGrid.cellFrames }
  }

  /// Whether the head does not move in the cell.
  public var isStill: Bool {
    @_noLocks get { start == end }
  }

  /// The pose half way through the cell.
  public var middle: Quaternion {
    @_noLocks get { Quaternion.slerp(start, end, 0.5) }
  }

  /// How gains go through the cell, for a soundfield of an order.
  ///
  /// Along a parabola where a straight line between them would be heard: more than 0.02 rad of the
  /// highest degree's phase in a cell (first order: 3400 degrees a second).
  @_noLocks
  public func motion(order: Int) -> GridMotion {
    if isStill { return .still }
    let (a, b) = (start, end)
    let cosine = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z
    let phase = Double(2 * order)
    return phase * phase * (1 - cosine * cosine) > 0.02 * 0.02 ? .bent : .even
  }
}

/// How gains go from one grid point to the next.
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
