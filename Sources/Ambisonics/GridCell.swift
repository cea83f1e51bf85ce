// SPDX-License-Identifier: Apache-2.0

public import Geometry

/// Frames of one grid cell, and the poses at its two ends.
public struct GridCell {
  /// The first of these frames, counted from the start of the stream.
  public let frame: Int
  /// The number of frames, 1 to 16.
  public let frames: Int
  private let poses: UnsafePointer<Quaternion>

  /// Describes frames of one cell.
  ///
  /// - Parameter poses: the poses at the two ends; must stay valid while the cell is used.
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

  /// Frames of the cell that precede `frame`.
  public var phase: Int {
    @_noLocks get { frame % PoseGrid.cellFrames }
  }

  /// Whether the head is still throughout the cell.
  public var isStill: Bool {
    @_noLocks get { start == end }
  }

  /// The pose in the middle of the cell.
  public var middle: Quaternion {
    @_noLocks get { Quaternion.slerp(start, end, 0.5) }
  }

  /// Returns the interpolation of gains in the cell for a soundfield of order `order`.
  ///
  /// The gains follow a parabola if a straight line would be audible: if the phase of the highest
  /// degree changes by more than 0.02 rad in the cell (first order: 3400 degrees per second).
  @_noLocks
  public func motion(order: Int) -> GridMotion {
    if isStill { return .still }
    let (a, b) = (start, end)
    let cosine = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z
    let phase = Double(2 * order)
    return phase * phase * (1 - cosine * cosine) > 0.02 * 0.02 ? .bent : .even
  }
}

/// The interpolation of gains from one grid point to the next: constant, linear or parabolic.
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
