// SPDX-License-Identifier: Apache-2.0

internal import SignalProcessing

/// Gains that follow a straight line or a parabola from one grid point to the next.
///
/// ## Threading
/// One caller at a time; it does not allocate, lock or wait.
public struct RampedGains: ~Copyable, @unchecked Sendable {
  /// The gains that must be computed for a cell.
  public enum Step {
    /// Computes nothing: the cell has been entered before.
    case none
    /// Computes the gains at the cell's end; it begins with the end gains of the previous cell.
    case end
    /// Computes the gains at both ends.
    case both
  }

  /// The gains at the end of the current cell, to be set by the caller.
  public var end: UnsafeMutablePointer<Float> { @_noLocks get { ends.pointer } }
  /// The gains in the middle of the cell, to be set by the caller before `setCurves`.
  public var middle: UnsafeMutablePointer<Float> { @_noLocks get { curves.pointer } }

  let starts: AlignedFloats
  let slopes: AlignedFloats
  let curves: AlignedFloats
  private let ends: AlignedFloats
  private let count: Int
  /// The frame that follows the previous cell; -1 if there was none.
  private let next: UnsafeMutablePointer<Int>

  public init(count: Int) {
    self.count = count
    starts = AlignedFloats(count: count)
    slopes = AlignedFloats(count: count)
    ends = AlignedFloats(count: count)
    curves = AlignedFloats(count: count)
    next = .allocate(capacity: 1)
    next.initialize(to: -1)
  }

  deinit { next.deallocate() }

  /// Forgets the previous cell.
  @_noLocks
  public func reset() { next.pointee = -1 }

  /// Moves to a cell, or continues in it, and returns which gains must be computed.
  @_noLocks
  public func enter(_ cell: GridCell) -> Step {
    let isNext = cell.frame == next.pointee
    next.pointee = cell.frame + cell.frames
    if !isNext { return .both }
    return cell.phase == 0 ? .end : .none
  }

  /// Makes the end gains of the previous cell the start gains of the next one.
  @_noLocks
  public func beginCell() {
    for i in 0..<count { starts.pointer[i] = ends.pointer[i] }
  }

  /// Computes the slopes; `end` must be set.
  @_noLocks
  public func setSlopes() {
    let scale = 1 / Float(PoseGrid.cellFrames)
    for i in 0..<count {
      slopes.pointer[i] = (ends.pointer[i] - starts.pointer[i]) * scale
    }
  }

  /// Computes the curvature of the parabola; `end` and `middle` must be set.
  @_noLocks
  public func setCurves() {
    for i in 0..<count {
      let chord = 0.5 * (starts.pointer[i] + ends.pointer[i])
      curves.pointer[i] = 4 * (curves.pointer[i] - chord)
    }
  }
}
