// SPDX-License-Identifier: Apache-2.0

public import Geometry

/// The grid of head poses of a stream: which poses the next frames need, and those that are known.
///
/// Point g lies at frame 16 g of the stream; a cell is what lies between two points. Gains are
/// computed for the points and ramped through the cells, so that the output depends neither on the
/// size of the calls nor on where they begin.
///
/// ## Threading
/// One caller at a time; nothing allocates, locks or waits.
public struct PoseGrid: ~Copyable, @unchecked Sendable {
  /// Frames between two points.
  public static var cellFrames: Int {
    @_noLocks get { 16 }
  }

  private let poses: UnsafeMutablePointer<Quaternion>
  private let capacity: Int
  private let state: UnsafeMutablePointer<State>

  private struct State {
    /// Frames of the stream that are done.
    var frame = 0
    /// The next point whose pose has not been given yet.
    var nextPoint = 0
    /// The point of the first pose in memory.
    var firstPoint = 0

    @_noLocks init() {}
  }

  /// - Parameter longestCall: the most frames that `take` is asked for.
  public init(longestCall frames: Int) {
    capacity = frames / Self.cellFrames + 3
    poses = .allocate(capacity: capacity)
    poses.initialize(repeating: .identity, count: capacity)
    state = .allocate(capacity: 1)
    state.initialize(to: State())
  }

  deinit {
    poses.deallocate()
    state.deallocate()
  }

  /// Returns the points whose poses the next `frames` frames need, in order: two for the first
  /// frame of a stream, later one for every cell begun.
  @_noLocks
  public func points(forNext frames: Int) -> Range<Int> {
    let first = state.pointee.nextPoint
    guard frames > 0 else { return first..<first }
    let cell = (state.pointee.frame + frames - 1) / Self.cellFrames
    return first..<max(first, cell + 2)
  }

  /// Goes on by some frames and returns all poses that they need, valid until the next call.
  ///
  /// - Parameters:
  ///   - new: head poses `headToWorld` for `points(forNext: frames)`.
  ///   - frames: at most the longest call.
  @_noLocks
  public func take(_ new: UnsafePointer<Quaternion>, forNext frames: Int) -> GridPoses {
    let points = points(forNext: frames)
    let first = state.pointee.frame / Self.cellFrames
    // The ends of a cell that has begun have been given before.
    let known = points.lowerBound - first
    precondition(known + points.count <= capacity)
    for i in 0..<known { poses[i] = poses[first - state.pointee.firstPoint + i] }
    for i in 0..<points.count { poses[known + i] = new[i] }
    let taken = GridPoses(frame: state.pointee.frame, poses: poses)
    state.pointee.frame += frames
    state.pointee.nextPoint = points.upperBound
    state.pointee.firstPoint = first
    return taken
  }

  /// Back to the beginning of a stream.
  @_noLocks
  public func reset() { state.pointee = State() }
}
