// SPDX-License-Identifier: Apache-2.0

internal import Binaural
private import CRealtime
internal import Geometry

/// Rendering the latest output again for other poses.
///
/// ## Threading
/// Use these members on the thread that calls `process`, or before its first call. They are
/// wait-free.
extension Renderer {
  /// Whether the latest output is kept and the decoder's filters are short enough for rewriting.
  package var isRewritable: Bool { history.isKept && rewriter.canFill(spatial) }

  /// The number of past frames that the history can hold.
  var keptFrames: Int { history.capacity }

  /// Whether the limiter's input at a frame comes from a single rendering with the played poses.
  func isPure(at frame: Int) -> Bool { history.cell(frame).isPure }

  /// Returns a plan for rendering a window again; nil if that is impossible. The window begins
  /// `framesBack` frames before the end of the rendered output, and has at most `frames` frames.
  @_noLocks
  func planRewrite(framesBack: Int, frames: Int) -> RewritePlan? {
    if !history.isKept { return nil }
    if framesBack > history.end { return nil }
    return rewriter.plan(
      start: history.end - framesBack, frames: frames, history: history, path: spatial)
  }

  /// Renders a window again with the poses for `plan.points`, and updates the history.
  /// `interleaved` receives left and right samples for each frame of the window.
  @_noLocks
  func rewrite(
    _ plan: RewritePlan, poses: UnsafePointer<Quaternion>,
    into interleaved: UnsafeMutablePointer<Float>
  ) {
    realtime_enter()
    rewriter.render(plan, poses: poses, history: history, path: spatial, into: interleaved)
    realtime_exit()
  }
}
