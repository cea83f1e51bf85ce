// SPDX-License-Identifier: Apache-2.0

internal import Binaural
private import CRealtime
internal import Geometry

/// Renders the latest output again for another head movement.
///
/// ## Threading
/// For the thread that calls `process`; wait-free.
extension Renderer {
  /// Whether the latest output can be rendered again.
  package var isRewritable: Bool { history.isKept && rewriter.canFill(spatial) }

  /// The number of past frames available, including those that fill the filters.
  var keptFrames: Int { history.capacity }

  /// Whether the limiter's input at a frame comes from a single rendering, with the poses that were
  /// played, and not from a mixture of two.
  func isPure(at frame: Int) -> Bool { history.cell(frame).isPure }

  /// Plans how to render a window of the output again; nil if that is impossible.
  ///
  /// - Parameters:
  ///   - framesBack: the start of the window, counted back from the end of the rendered output.
  ///   - frames: the length of the window.
  @_noLocks
  func planRewrite(framesBack: Int, frames: Int) -> RewritePlan? {
    if !history.isKept { return nil }
    if framesBack > history.end { return nil }
    return rewriter.plan(
      start: history.end - framesBack, frames: frames, history: history, path: spatial)
  }

  /// Renders a window again, joins it to the output around it, and updates the history.
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
