// SPDX-License-Identifier: Apache-2.0

internal import SignalProcessing

/// Gains that go from one point of the grid to the next in a straight line or a parabola.
///
/// ## Threading
/// One caller at a time; nothing allocates, locks or waits.
public struct RampedGains: ~Copyable, @unchecked Sendable {
  /// What of a cell has to be computed.
  public enum Step {
    /// Nothing: the cell goes on.
    case none
    /// The gains at the cell's end; it begins with those that the last one ended with.
    case end
    /// The gains at both ends.
    case both
  }

  /// The gains that the present cell ends with, for the caller to set.
  public var end: UnsafeMutablePointer<Float> { @_noLocks get { ends.pointer } }
  /// The gains half way, for the caller to set before `setCurves`.
  public var middle: UnsafeMutablePointer<Float> { @_noLocks get { curves.pointer } }

  let starts: AlignedFloats
  let slopes: AlignedFloats
  let curves: AlignedFloats
  private let ends: AlignedFloats
  private let count: Int
  /// The frame of the stream that follows the last cell; -1 where there was none.
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

  /// Forgets the last cell.
  @_noLocks
  public func reset() { next.pointee = -1 }

  /// Goes on to a cell, or goes on in it.
  @_noLocks
  public func enter(_ cell: GridCell) -> Step {
    let isNext = cell.frame == next.pointee
    next.pointee = cell.frame + cell.frames
    if !isNext { return .both }
    return cell.phase == 0 ? .end : .none
  }

  /// The next cell begins with the gains that the last one ended with.
  @_noLocks
  public func beginCell() {
    for i in 0..<count { starts.pointer[i] = ends.pointer[i] }
  }

  /// The gains at the cell's end have been set.
  @_noLocks
  public func setSlopes() {
    let scale = 1 / Float(PoseGrid.cellFrames)
    for i in 0..<count {
      slopes.pointer[i] = (ends.pointer[i] - starts.pointer[i]) * scale
    }
  }

  /// The gains at the cell's end and half way have been set.
  @_noLocks
  public func setCurves() {
    for i in 0..<count {
      let chord = 0.5 * (starts.pointer[i] + ends.pointer[i])
      curves.pointer[i] = 4 * (curves.pointer[i] - chord)
    }
  }
}
