// SPDX-License-Identifier: Apache-2.0

public import Geometry

/// Keeps the head poses of a stream on a grid, and determines which new ones the next frames need.
///
/// Point g is at frame 16 g of the stream; a cell is the range between two points. Gains are
/// computed at the points and ramped through the cells. The output therefore depends neither on the
/// size of the calls nor on where they begin.
///
/// ## Threading
/// One caller at a time; it does not allocate, lock or wait.
public struct PoseGrid: ~Copyable, @unchecked Sendable {
  /// The number of frames between two points.
  public static var cellFrames: Int {
    @_noLocks get { 16 }
  }

  private let poses: UnsafeMutablePointer<Quaternion>
  private let capacity: Int
  private let state: UnsafeMutablePointer<State>

  private struct State {
    /// Frames of the stream that are done.
    var frame = 0
    /// The next point whose pose is not known yet.
    var nextPoint = 0
    /// The point of the first pose in memory.
    var firstPoint = 0

    @_noLocks init() {}
  }

  /// Allocates memory for the poses.
  ///
  /// - Parameter longestCall: the largest number of frames passed to `take`.
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

  /// Returns the points whose poses the next `frames` frames need, in order.
  ///
  /// These are two points for the first frame of a stream, and later one point for each new cell.
  @_noLocks
  public func points(forNext frames: Int) -> Range<Int> {
    let first = state.pointee.nextPoint
    guard frames > 0 else { return first..<first }
    let cell = (state.pointee.frame + frames - 1) / Self.cellFrames
    return first..<max(first, cell + 2)
  }

  /// Advances by `frames` frames and returns all poses that they need; valid until the next call.
  ///
  /// - Parameters:
  ///   - new: head poses `headToWorld` for `points(forNext: frames)`.
  ///   - frames: number of frames, at most that of the longest call.
  @_noLocks
  public func take(_ new: UnsafePointer<Quaternion>, forNext frames: Int) -> GridPoses {
    let points = points(forNext: frames)
    let first = state.pointee.frame / Self.cellFrames
    // The poses at the ends of a partly used cell are known already.
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

  /// Returns to the beginning of a stream.
  @_noLocks
  public func reset() { state.pointee = State() }
}
