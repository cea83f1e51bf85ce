// SPDX-License-Identifier: Apache-2.0

public import Geometry

/// Stores a stream's head poses at grid points, and returns the poses for the next frames.
///
/// Grid point g is at frame 16 g of the stream. A cell is the range between two consecutive points.
/// Gains are computed at the points and interpolated in the cells, so that the output does not
/// depend on the number of frames per call.
///
/// ## Threading
/// One caller at a time. `points`, `take` and `reset` do not allocate, lock or wait.
public struct PoseGrid: ~Copyable, @unchecked Sendable {
  /// The number of frames from one grid point to the next.
  public static var cellFrames: Int {
    @_noLocks get { 16 }
  }

  private let poses: UnsafeMutablePointer<Quaternion>
  private let capacity: Int
  private let state: UnsafeMutablePointer<State>

  private struct State {
    /// The index of the next frame in the stream.
    var frame = 0
    /// The first grid point without a known pose.
    var nextPoint = 0
    /// The grid point of the first stored pose.
    var firstPoint = 0

    @_noLocks init() {}
  }

  /// Allocates memory for the poses.
  ///
  /// - Parameter longestCall: the maximum number of frames in a call of `take`.
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

  /// Returns the grid points whose poses `take` needs for the next `frames` frames.
  ///
  /// The first frame of a stream needs two points. After that, each new cell needs one more point.
  @_noLocks
  public func points(forNext frames: Int) -> Range<Int> {
    let first = state.pointee.nextPoint
    guard frames > 0 else { return first..<first }
    let cell = (state.pointee.frame + frames - 1) / Self.cellFrames
    return first..<max(first, cell + 2)
  }

  /// Advances by `frames` frames and returns the poses for them. The poses are valid until the next
  /// call of `take`.
  ///
  /// - Parameters:
  ///   - new: the head poses (`headToStage`) at the points `points(forNext: frames)`.
  ///   - frames: the number of frames, at most `longestCall`.
  @_noLocks
  public func take(_ new: UnsafePointer<Quaternion>, forNext frames: Int) -> GridPoses {
    let points = points(forNext: frames)
    let first = state.pointee.frame / Self.cellFrames
    // The poses at the points in `first..<points.lowerBound` are already known.
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

  /// Forgets all poses. The next frame is frame 0 of a new stream.
  @_noLocks
  public func reset() { state.pointee = State() }
}
