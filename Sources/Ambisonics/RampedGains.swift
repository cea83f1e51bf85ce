// SPDX-License-Identifier: Apache-2.0

internal import SignalProcessing

/// Gains that follow a straight line or a parabola from one grid point to the next.
///
/// ## Threading
/// One caller at a time. Methods do not allocate, lock or wait.
public struct RampedGains: ~Copyable, @unchecked Sendable {
  /// The gains that the caller must compute for a cell.
  public enum Step {
    /// No gains, because the cell has been entered before.
    case none
    /// The gains at the end of the cell. The start gains are the end gains of the previous cell.
    case end
    /// The gains at the start and at the end of the cell.
    case both
  }

  /// The gains at the end of the current cell, which the caller computes. If `enter` returned
  /// `both`, the caller first writes the start gains of the cell here, before `beginCell`.
  public var end: UnsafeMutablePointer<Float> { @_noLocks get { ends.pointer } }
  /// The gains in the middle of the cell, which the caller computes before `setCurves`.
  public var middle: UnsafeMutablePointer<Float> { @_noLocks get { curves.pointer } }

  let starts: AlignedFloats
  let slopes: AlignedFloats
  let curves: AlignedFloats
  private let ends: AlignedFloats
  private let count: Int
  /// The frame after the last entered frame; -1 at first and after `reset`.
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

  /// Moves to a cell, or continues in the current cell, and returns which gains must be computed.
  @_noLocks
  public func enter(_ cell: GridCell) -> Step {
    let isNext = cell.frame == next.pointee
    next.pointee = cell.frame + cell.frames
    if !isNext { return .both }
    return cell.phase == 0 ? .end : .none
  }

  /// Makes the gains in `end` the start gains of the current cell.
  @_noLocks
  public func beginCell() {
    for i in 0..<count { starts.pointer[i] = ends.pointer[i] }
  }

  /// Computes the change of each gain per frame. `end` must contain the gains at the end of the
  /// cell.
  @_noLocks
  public func setSlopes() {
    let scale = 1 / Float(PoseGrid.cellFrames)
    for i in 0..<count {
      slopes.pointer[i] = (ends.pointer[i] - starts.pointer[i]) * scale
    }
  }

  /// Replaces the gains in `middle` by the coefficients of the parabolas. `end` and `middle` must
  /// be set.
  @_noLocks
  public func setCurves() {
    for i in 0..<count {
      let chord = 0.5 * (starts.pointer[i] + ends.pointer[i])
      curves.pointer[i] = 4 * (curves.pointer[i] - chord)
    }
  }
}
