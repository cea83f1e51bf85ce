// SPDX-License-Identifier: Apache-2.0

/// Which points of a grid in stream time poses are needed for, and where in a cell the stream is.
///
/// The grid is that of `SoundfieldRotator`: point g lies at frame 16 g.
///
/// ## Threading
/// One caller at a time; nothing allocates, locks or waits.
public struct PoseGrid: ~Copyable, @unchecked Sendable {
  private let state: UnsafeMutablePointer<State>
  private let cellFrames = SoundfieldRotator.gridFrames

  private struct State {
    /// Frames of the stream that are done.
    var position = 0
    /// The next grid point whose pose has not been given yet.
    var next = 0

    @_noLocks init() {}
  }

  public init() {
    state = .allocate(capacity: 1)
    state.initialize(to: State())
  }

  deinit { state.deallocate() }

  /// The grid points whose poses the next `frames` frames need, in order: two for the first frame of
  /// a stream, later one for every cell begun.
  @_noLocks
  public func gridPoints(forNext frames: Int) -> Range<Int> {
    let first = state.pointee.next
    guard frames > 0 else { return first..<first }
    let cell = (state.pointee.position + frames - 1) / cellFrames
    return first..<max(first, cell + 2)
  }

  /// Frames of the present cell that are done; 0 where a cell begins.
  public var offset: Int {
    @_noLocks get { state.pointee.position % cellFrames }
  }

  /// How many of `frames` lie in the present cell.
  @_noLocks
  public func frames(ofNext frames: Int) -> Int {
    min(cellFrames - offset, frames)
  }

  /// Whether the stream has had no pose yet, so that the cell that begins takes two.
  public var isAtStart: Bool {
    @_noLocks get { state.pointee.next == 0 }
  }

  /// Counts poses that were taken.
  @_noLocks
  public func take(_ poses: Int) { state.pointee.next += poses }

  @_noLocks
  public func advance(by frames: Int) { state.pointee.position += frames }

  /// Back to the beginning of a stream.
  @_noLocks
  public func reset() { state.pointee = State() }
}
