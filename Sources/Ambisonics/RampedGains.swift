// SPDX-License-Identifier: Apache-2.0

internal import SignalProcessing

/// Gains that follow a straight line or a parabola from one grid point to the next.
///
/// ## Threading
/// One caller at a time. Methods do not allocate, lock or wait.
public struct RampedGains: ~Copyable, @unchecked Sendable {
  /// The gains that the caller must compute for a cell.
  public enum Step {
    /// No gains: the frames continue the current cell.
    case none
    /// The gains at the end of the cell.
    case end
    /// The gains at the start and at the end of the cell.
    case both
  }

  /// The gains at the end of the current cell. After `enter`, the caller proceeds as follows:
  ///
  /// 1. For `both`: write the start gains here.
  /// 2. For `both` and `end`: call `beginCell`. If the cell is not still, write the end gains here
  ///    and call `setSlopes`.
  public var end: UnsafeMutablePointer<Float> { @_noLocks get { ends.pointer } }
  /// The gains in the middle of the cell. The caller writes them before it calls `setCurves`, which
  /// overwrites them.
  public var middle: UnsafeMutablePointer<Float> { @_noLocks get { curves.pointer } }

  let starts: AlignedFloats
  let slopes: AlignedFloats
  let curves: AlignedFloats
  private let ends: AlignedFloats
  private let count: Int
  /// The index of the frame after the last cell that was passed to `enter`; -1 at first and after
  /// `reset`.
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

  /// Forgets the previous cell, so that the next call of `enter` returns `both`.
  @_noLocks
  public func reset() { next.pointee = -1 }

  /// Enters a cell or continues in the current cell, and returns the gains that must be computed.
  /// Returns `both` if the frames do not follow those of the previous call.
  @_noLocks
  public func enter(_ cell: GridCell) -> Step {
    let isNext = cell.frame == next.pointee
    next.pointee = cell.frame + cell.frames
    if !isNext { return .both }
    return cell.phase == 0 ? .end : .none
  }

  /// Copies the gains in `end` to the start gains of the current cell.
  @_noLocks
  public func beginCell() {
    for i in 0..<count { starts.pointer[i] = ends.pointer[i] }
  }

  /// Computes the change of each gain per frame, from the start gains to `end`.
  @_noLocks
  public func setSlopes() {
    let scale = 1 / Float(PoseGrid.cellFrames)
    for i in 0..<count {
      slopes.pointer[i] = (ends.pointer[i] - starts.pointer[i]) * scale
    }
  }

  /// Replaces the gains in `middle` with the coefficients of the parabolas. The start gains and
  /// `end` must be set.
  @_noLocks
  public func setCurves() {
    for i in 0..<count {
      let chord = 0.5 * (starts.pointer[i] + ends.pointer[i])
      curves.pointer[i] = 4 * (curves.pointer[i] - chord)
    }
  }
}
