// SPDX-License-Identifier: Apache-2.0

internal import Binaural
private import CRealtime
internal import Geometry

/// What was rendered last can be rendered again for a head that moved otherwise.
///
/// ## Threading
/// For the thread of `process`; wait-free.
extension Renderer {
  /// Whether what was rendered can be rendered again.
  package var isRewritable: Bool { history.isKept && rewriter.canFill(spatial) }

  /// Frames that can be asked of the past, with the filters' run-up.
  var keptFrames: Int { history.capacity }

  /// Whether the limiter's input at a frame is what the poses played make of the source.
  func isPure(at frame: Int) -> Bool { history.cell(frame).isPure }

  /// How a piece of the output can be rendered again; nil where it cannot.
  ///
  /// - Parameters:
  ///   - framesBack: where it begins, counted back from the end of what has been rendered.
  ///   - frames: its length.
  @_noLocks
  func planRewrite(framesBack: Int, frames: Int) -> RewritePlan? {
    if !history.isKept { return nil }
    if framesBack > history.end { return nil }
    return rewriter.plan(
      start: history.end - framesBack, frames: frames, history: history, path: spatial)
  }

  /// Renders a piece again, with what it joins and what was queued kept in mind.
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
