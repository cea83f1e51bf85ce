// SPDX-License-Identifier: Apache-2.0

internal import Geometry

/// Interpolates `headToWorld` at the renderer's grid points. Each render call supplies one pose.
///
/// ## Threading
/// Use it on the rendering thread only. It does not allocate, lock or wait.
struct PoseInterpolator: ~Copyable {
  let poses: UnsafeMutablePointer<Quaternion>
  private let state: UnsafeMutablePointer<State>
  private let gridFrames = Renderer.gridFrames

  private struct State {
    /// The number of frames rendered before the current render call.
    var position = 0
    var frames = 0
    var start = Quaternion.identity
    var end = Quaternion.identity
    var hasBegun = false

    @_noLocks init() {}
  }

  /// Allocates memory for `capacity` poses.
  init(capacity: Int) {
    poses = .allocate(capacity: capacity)
    poses.initialize(repeating: .identity, count: capacity)
    state = .allocate(capacity: 1)
    state.initialize(to: State())
  }

  deinit {
    poses.deallocate()
    state.deallocate()
  }

  @_noLocks
  func begin(_ pose: Quaternion, frames: Int) {
    state.pointee.start = state.pointee.end
    if pose.isUsable { state.pointee.end = pose.normalized }
    if !state.pointee.hasBegun { state.pointee.start = state.pointee.end }
    state.pointee.frames = frames
  }

  @_noLocks
  func end() {
    // A call without frames leaves no time in which to turn.
    if state.pointee.frames == 0 { state.pointee.end = state.pointee.start }
    if state.pointee.frames > 0 { state.pointee.hasBegun = true }
    state.pointee.position += state.pointee.frames
  }

  /// Writes the poses of the given grid points to `poses`.
  @_noLocks
  func place(on points: Range<Int>) {
    let (start, end) = (state.pointee.start, state.pointee.end)
    for i in 0..<points.count {
      let ahead = (points.lowerBound + i) * gridFrames - state.pointee.position
      // The rotator recognises a head at rest by exactly equal poses.
      if start == end || ahead >= state.pointee.frames {
        poses[i] = end
      } else {
        poses[i] = .slerp(start, end, Double(ahead) / Double(state.pointee.frames))
      }
    }
  }

  func reset() { state.pointee = State() }
}
