// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
internal import Geometry
internal import SignalProcessing

/// A piece of the queue that is to be rendered again. All in frames of the stream since its reset.
struct RewritePlan {
  /// The first frame of the output, and the one after the last.
  var start: Int
  var end: Int
  /// Where the head may turn otherwise than it was played, on the grid.
  var turn: Int
  /// The first sum that may differ for it.
  var first: Int
  /// Where the filters begin to hear the past, on the grid.
  var runUp: Int
  /// Whether the sum at `first` is what the poses played make of the source, so that it goes on.
  var isJoined: Bool
  /// From here on the output goes back to what is queued.
  var fadeOut: Int
  /// By which the limiter delays its output.
  var latency: Int

  @_noLocks
  init(
    start: Int, end: Int, turn: Int, first: Int, runUp: Int, isJoined: Bool, fadeOut: Int,
    latency: Int
  ) {
    self.start = start
    self.end = end
    self.turn = turn
    self.first = first
    self.runUp = runUp
    self.isJoined = isJoined
    self.fadeOut = fadeOut
    self.latency = latency
  }

  /// The grid points whose poses it takes.
  var points: Range<Int> {
    @_noLocks get {
      let grid = PoseGrid.cellFrames
      return runUp / grid..<(end - 1) / grid + 2
    }
  }

  /// Those of them that may differ from what was played before and count as played afterwards.
  var newPoints: Range<Int> {
    @_noLocks get {
      let grid = PoseGrid.cellFrames
      let first = turn / grid + 1
      return first..<max(first, (fadeOut - latency - (self.first - turn)) / grid + 1)
    }
  }
}

/// Renders pieces of the queue again for a head that turns otherwise than was foreseen.
///
/// The filters hear the past with the poses as played, so that the new sound goes on from the old
/// one exactly; only the pose turns away from there. The limiter goes on from its state before the
/// piece, and its gain is the one as played for the first millisecond. At the piece's end the
/// output goes back to what is queued in a short crossfade, which the next rewrite is meant to
/// reach in time.
///
/// ## Threading
/// The audio thread's; nothing allocates, locks or waits.
struct QueueRewriter: ~Copyable, @unchecked Sendable {
  private let limiter: TruePeakLimiter
  private let source: PlanarScratch
  /// What turns; the sum; the limiter's answer.
  private let ears: PlanarScratch
  private let sums: PlanarScratch
  private let old: PlanarScratch
  private let gains: PlanarScratch
  private let latency: Int
  private let joinFrames: Int
  private let mixFrames: Int
  private let fadeFrames: Int
  private let shortest: Int
  private let longestRunUp: Int

  /// Of at most so many frames at a time, that a piece never spans two states of the limiter.
  private static var chunk: Int { @_noLocks get { RenderHistory.stateFrames } }
  private static var grid: Int { @_noLocks get { PoseGrid.cellFrames } }

  init(channels: Int, sampleRate: Double, policy: RewritePolicy) {
    limiter = TruePeakLimiter(sampleRate: sampleRate)
    source = PlanarScratch(channels: channels, frames: RenderHistory.stateFrames)
    ears = PlanarScratch(channels: 2, frames: RenderHistory.stateFrames)
    sums = PlanarScratch(channels: 2, frames: RenderHistory.stateFrames)
    old = PlanarScratch(channels: 2, frames: RenderHistory.stateFrames)
    gains = PlanarScratch(channels: 1, frames: RenderHistory.stateFrames)
    latency = limiter.latencyFrames
    joinFrames = latency / 2
    mixFrames = Int(policy.fadeSeconds * sampleRate)
    fadeFrames = Int(policy.fadeSeconds * sampleRate)
    shortest = Int(policy.shortestSeconds * sampleRate)
    longestRunUp = Int(policy.longestRunUpSeconds * sampleRate)
  }

  /// Whether the filters can be filled with the past in reasonable time.
  @_noLocks
  func canFill(_ path: borrowing PathSwitch) -> Bool { runUp(path) <= longestRunUp }

  /// Frames of the past that are to be heard first, at least.
  @_noLocks
  private func runUp(_ path: borrowing PathSwitch) -> Int {
    path.memoryFrames + Self.grid + path.hopFrames
  }

  /// How a piece can be rendered again; nil where it cannot.
  ///
  /// - Parameters:
  ///   - start: its first frame of output.
  ///   - frames: its length.
  @_noLocks
  func plan(
    start: Int, frames: Int, history: borrowing RenderHistory, path: borrowing PathSwitch
  ) -> RewritePlan? {
    let (grid, hop) = (Self.grid, path.hopFrames)
    let needed = runUp(path)
    guard needed <= longestRunUp else { return nil }
    let first = (start - joinFrames + grid - 1) / grid * grid
    guard first - needed > 0 || hop == 0, first >= grid + hop else { return nil }
    let step = max(grid, hop)
    let runUp = max(0, (first - needed) / step * step)
    let state = first / Self.chunk * Self.chunk
    guard min(runUp, state) >= history.begin, start + frames <= history.end else { return nil }
    var end = start + frames
    var at = first - grid
    while at < end {
      if history.cell(at).decoder != path.number { end = at }
      at += grid
    }
    guard end - start >= shortest else { return nil }
    return RewritePlan(
      start: start, end: end, turn: first - hop, first: first, runUp: runUp,
      isJoined: history.cell(first - 1).isPure, fadeOut: end - fadeFrames, latency: latency)
  }

  /// - Parameters:
  ///   - poses: for the plan's points; up to `turn` those as played.
  ///   - interleaved: receives the plan's frames x 2.
  @_noLocks
  func render(
    _ plan: RewritePlan, poses: UnsafePointer<Quaternion>, history: borrowing RenderHistory,
    path: borrowing PathSwitch, into interleaved: UnsafeMutablePointer<Float>
  ) {
    path.beginAgain(at: plan.runUp)
    var poses = GridPoses(frame: plan.runUp, poses: poses)
    var at = plan.runUp
    while at < plan.first {
      let count = min(Self.chunk, plan.first - at)
      turn(count, &poses, history, path)
      at += count
    }
    goOn(to: plan.first, history)
    while at < plan.end {
      if at % Self.chunk == 0, at > plan.first, at <= plan.fadeOut {
        limiter.saveState(into: history.limiterState(before: at))
      }
      let count = min(Self.chunk - at % Self.chunk, plan.end - at)
      turn(count, &poses, history, path)
      renderPiece(plan, at, count, history, interleaved)
      at += count
    }
    note(plan, history, path)
  }

  /// Renders what turns.
  @_noLocks
  private func turn(
    _ count: Int, _ poses: inout GridPoses, _ history: borrowing RenderHistory,
    _ path: borrowing PathSwitch
  ) {
    for c in 0..<source.channels {
      history.loadSource(c, at: poses.frame, source.planes[c], count)
    }
    path.processAgain(source.planes, poses: poses, into: ears.planes, frames: count)
    poses.advance(by: count)
  }

  /// The limiter as it was before a frame.
  @_noLocks
  private func goOn(to frame: Int, _ history: borrowing RenderHistory) {
    let first = frame / Self.chunk * Self.chunk
    limiter.restoreState(from: history.limiterState(before: first))
    history.load(.sumLeft, at: first, sums.planes[0], frame - first)
    history.load(.sumRight, at: first, sums.planes[1], frame - first)
    limiter.process(sums.planes[0], sums.planes[1], frames: frame - first)
  }

  /// Sum, limiter and joins of what has been turned.
  @_noLocks
  private func renderPiece(
    _ plan: RewritePlan, _ first: Int, _ count: Int, _ history: borrowing RenderHistory,
    _ interleaved: UnsafeMutablePointer<Float>
  ) {
    history.load(.gain, at: first, gains.planes[0], count)
    for ear in 0..<2 {
      let (turned, sum, kept) = (ears.planes[ear], sums.planes[ear], old.planes[ear])
      history.load(ear == 0 ? .stillLeft : .stillRight, at: first, sum, count)
      for i in 0..<count { sum[i] += turned[i] * gains.planes[0][i] }
      history.load(ear == 0 ? .sumLeft : .sumRight, at: first, kept, count)
      goOver(kept, to: sum, plan, at: first + plan.latency, 0..<count)
      history.store(ear == 0 ? .sumLeft : .sumRight, at: first, kept, count)
    }
    limiter.process(sums.planes[0], sums.planes[1], frames: count)
    let skipped = max(0, plan.start - first)
    guard skipped < count else { return }
    for ear in 0..<2 {
      let kept = old.planes[ear]
      history.load(ear == 0 ? .outputLeft : .outputRight, at: first, kept, count)
      goOver(kept, to: sums.planes[ear], plan, at: first, skipped..<count)
      history.store(ear == 0 ? .outputLeft : .outputRight, at: first, kept, count)
    }
    let (left, right) = (old.planes[0], old.planes[1])
    var out = interleaved + 2 * (first - plan.start + skipped)
    for i in skipped..<count {
      out[0] = left[i]
      out[1] = right[i]
      out += 2
    }
  }

  /// Some frames of what was played go over to the new rendering.
  ///
  /// - Parameter at: the frame of the output of which `kept` and `new` are the first.
  @_noLocks
  private func goOver(
    _ kept: UnsafeMutablePointer<Float>, to new: UnsafePointer<Float>, _ plan: RewritePlan,
    at first: Int, _ frames: Range<Int>
  ) {
    let joined = plan.start + joinLength(plan) - first
    let wholeFrom = min(max(joined, frames.lowerBound), frames.upperBound)
    let wholeTo = min(max(plan.fadeOut - first, wholeFrom), frames.upperBound)
    for i in frames.lowerBound..<wholeFrom {
      kept[i] += (new[i] - kept[i]) * share(plan, first + i)
    }
    for i in wholeFrom..<wholeTo { kept[i] = new[i] }
    for i in wholeTo..<frames.upperBound {
      kept[i] += (new[i] - kept[i]) * share(plan, first + i)
    }
  }

  /// Frames of the output in which the new rendering comes in.
  @_noLocks
  private func joinLength(_ plan: RewritePlan) -> Int {
    plan.isJoined ? plan.first + plan.latency - plan.start : mixFrames
  }

  /// Of the new rendering at a frame of the output, 0 to 1.
  @_noLocks
  private func share(_ plan: RewritePlan, _ frame: Int) -> Float {
    if frame >= plan.fadeOut {
      return smooth(plan.end - frame, fadeFrames)
    }
    let join = joinLength(plan)
    let done = frame - plan.start + 1
    if done <= 0 { return 0 }
    return done >= join ? 1 : smooth(done, join)
  }

  @_noLocks
  private func smooth(_ part: Int, _ whole: Int) -> Float {
    let t = min(1, max(0, Float(part) / Float(whole)))
    return t * t * (3 - 2 * t)
  }

  /// What of the history is one rendering, what a mixture of two.
  @_noLocks
  private func note(
    _ plan: RewritePlan, _ history: borrowing RenderHistory, _ path: borrowing PathSwitch
  ) {
    let mixed = plan.isJoined ? plan.first : plan.start + mixFrames - plan.latency
    let left = plan.fadeOut - plan.latency
    history.setPure(false, from: plan.first, to: mixed)
    history.setPure(true, from: max(plan.first, mixed), to: left)
    let tail = path.memoryFrames + path.hopFrames
    history.setPure(false, from: left, to: plan.end - plan.latency + tail + Self.grid)
  }
}
