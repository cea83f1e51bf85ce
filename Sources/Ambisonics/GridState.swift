// SPDX-License-Identifier: Apache-2.0

public import Geometry

/// Where a stream stands on the grid of `SoundfieldRotator`.
public struct GridState: Sendable {
  /// Frames of the stream that are done.
  public var position = 0
  /// The next grid point whose pose has not been given yet.
  public var nextPoint = 0
  /// The poses at both ends of the cell that the stream is in.
  public var cellStart = Quaternion.identity
  public var cellEnd = Quaternion.identity

  @_noLocks
  public init() {}

  /// The grid points whose poses the next `frames` frames need, in order: two for the first frame of
  /// a stream, later one for every cell begun.
  @_noLocks
  public func gridPoints(forNext frames: Int) -> Range<Int> {
    guard frames > 0 else { return nextPoint..<nextPoint }
    let cell = (position + frames - 1) / SoundfieldRotator.gridFrames
    return nextPoint..<max(nextPoint, cell + 2)
  }

  /// Frames of the present cell that are done; 0 where a cell begins.
  public var phase: Int {
    @_noLocks get { position % SoundfieldRotator.gridFrames }
  }

  /// How many of `frames` lie in the present cell.
  @_noLocks
  public func frames(ofNext frames: Int) -> Int {
    min(SoundfieldRotator.gridFrames - phase, frames)
  }

  /// Whether the stream has had no pose yet, so that the cell that begins takes two.
  public var isAtStart: Bool {
    @_noLocks get { nextPoint == 0 }
  }

  /// Whether the head does not move in the cell.
  public var isStill: Bool {
    @_noLocks get { cellStart == cellEnd }
  }

  /// The cell that begins ends at a pose.
  @_noLocks
  public mutating func enterCell(to pose: Quaternion) {
    cellStart = cellEnd
    cellEnd = pose
  }
}
