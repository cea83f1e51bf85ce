// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
internal import Geometry
internal import SignalProcessing

/// A plan for rendering a window of the queue again. All positions are frame numbers, counted from
/// the last reset. The sum is the input of the limiter.
struct RewritePlan {
  /// The first output frame of the window.
  var start: Int
  /// The first output frame after the window.
  var end: Int
  /// The last grid point, as a frame number, that keeps the played pose.
  var turn: Int
  /// The first frame of the sum that the new poses may change.
  var first: Int
  /// The grid point, as a frame number, from which the filters are filled with past input.
  var runUp: Int
  /// Whether the sum just before `first` comes from a single rendering with the played poses.
  var isJoined: Bool
  /// The output frame at which the crossfade back to the queued sound begins.
  var fadeOut: Int
  /// The delay of the limiter, in frames.
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

  /// The grid points whose poses are needed to render the window.
  var points: Range<Int> {
    @_noLocks get {
      let grid = PoseGrid.cellFrames
      return runUp / grid..<(end - 1) / grid + 2
    }
  }

  /// The grid points after `turn` whose poses take effect before the crossfade at the end of the
  /// window.
  var newPoints: Range<Int> {
    @_noLocks get {
      let grid = PoseGrid.cellFrames
      let first = turn / grid + 1
      return first..<max(first, (fadeOut - latency - (self.first - turn)) / grid + 1)
    }
  }
}

/// Renders windows of the queue again for newer head poses.
///
/// The sum is the input of the limiter. Past input is first rendered with the played poses to fill
/// the filters, so that the new sum continues the old sum.
///
/// At the start of the window, the output still contains the old sum for about half the limiter's
/// delay. In this time, the old output is crossfaded to the new output. If the old sum just before
/// the new sum is a mixture of two renderings, the crossfade takes `RewritePolicy.fadeSeconds`
/// instead. At the end of the window, the new output is crossfaded to the queued sound.
///
/// ## Threading
/// Only the audio thread may call `plan` and `render`. They do not allocate, lock or wait.
struct QueueRewriter: ~Copyable, @unchecked Sendable {
  private let limiter: TruePeakLimiter
  private let outputGuard: FiniteGuard
  private let source: PlanarScratch
  /// The part that is rotated against the head: 2 x frames.
  private let ears: PlanarScratch
  /// The input of the limiter, and then its output: 2 x frames.
  private let sums: PlanarScratch
  /// Sound from the history: 2 x frames.
  private let old: PlanarScratch
  private let gains: PlanarScratch
  private let latency: Int
  private let joinFrames: Int
  private let mixFrames: Int
  private let fadeFrames: Int
  private let shortest: Int
  private let longestRunUp: Int

  /// The largest number of frames that are rendered at once.
  private static var chunk: Int { @_noLocks get { RenderHistory.stateFrames } }
  private static var grid: Int { @_noLocks get { PoseGrid.cellFrames } }

  /// The number of frames that were muted because of invalid samples.
  var mutedFrameCount: Int { outputGuard.badFrameCount }

  init(channels: Int, sampleRate: Double, policy: RewritePolicy) {
    limiter = TruePeakLimiter(sampleRate: sampleRate)
    outputGuard = FiniteGuard(
      channelCount: 2, sampleRate: sampleRate, bound: largestDecodedSample)
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

  /// Whether the filters need no more past input than the policy allows.
  @_noLocks
  func canFill(_ path: borrowing PathSwitch) -> Bool { runUp(path) <= longestRunUp }

  /// Returns the number of past frames that fill the filters before the new sum begins.
  @_noLocks
  private func runUp(_ path: borrowing PathSwitch) -> Int {
    path.memoryFrames + Self.grid + path.hopFrames
  }

  /// Returns a plan for rendering again the window that begins at output frame `start`; nil if that
  /// is impossible. The window has at most `frames` frames, and ends before sound that another
  /// decoder rendered.
  @_noLocks
  func plan(
    start: Int, frames: Int, history: borrowing RenderHistory, path: borrowing PathSwitch
  ) -> RewritePlan? {
    let (grid, hop) = (Self.grid, path.hopFrames)
    let needed = runUp(path)
    guard needed <= longestRunUp else { return nil }
    // The new sum begins half the limiter's delay before the window, rounded up to the grid.
    let first = (start - joinFrames + grid - 1) / grid * grid
    guard first - needed > 0 || hop == 0, first >= grid + hop else { return nil }
    // The run-up begins at a grid point and, if the decoder has hops, at a multiple of the hop.
    let step = max(grid, hop)
    let runUp = max(0, (first - needed) / step * step)
    // The history must reach back to the run-up and to a saved limiter state.
    let state = first / Self.chunk * Self.chunk
    guard min(runUp, state) >= history.begin, start + frames <= history.end else { return nil }
    // The window ends before the first cell that another decoder has rendered.
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

  /// Renders a window again.
  ///
  /// - Parameters:
  ///   - poses: the poses for `plan.points`. Up to `plan.turn`, they must be the played poses.
  ///   - interleaved: receives left and right samples for each frame of the window.
  @_noLocks
  func render(
    _ plan: RewritePlan, poses: UnsafePointer<Quaternion>, history: borrowing RenderHistory,
    path: borrowing PathSwitch, into interleaved: UnsafeMutablePointer<Float>
  ) {
    // Fill the filters with past input.
    path.beginAgain(at: plan.runUp)
    outputGuard.reset()
    var poses = GridPoses(frame: plan.runUp, poses: poses)
    var at = plan.runUp
    while at < plan.first {
      let count = min(Self.chunk, plan.first - at)
      turn(count, &poses, history, path)
      at += count
    }
    // Bring the limiter to its state before the new sum.
    goOn(to: plan.first, history)
    // Render the window, and save the limiter's new states.
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

  @_noLocks
  private func turn(
    _ count: Int, _ poses: inout GridPoses, _ history: borrowing RenderHistory,
    _ path: borrowing PathSwitch
  ) {
    for c in 0..<source.channels {
      history.loadSource(c, at: poses.frame, source.planes[c], count)
    }
    path.processAgain(source.planes, poses: poses, into: ears.planes, frames: count)
    outputGuard.process(ears.planes, frames: count)
    poses.advance(by: count)
  }

  /// Brings the limiter to its state before a frame.
  @_noLocks
  private func goOn(to frame: Int, _ history: borrowing RenderHistory) {
    let first = frame / Self.chunk * Self.chunk
    limiter.restoreState(from: history.limiterState(before: first))
    history.load(.sumLeft, at: first, sums.planes[0], frame - first)
    history.load(.sumRight, at: first, sums.planes[1], frame - first)
    limiter.process(sums.planes[0], sums.planes[1], frames: frame - first)
  }

  /// Computes and limits a part of the new sound, crossfades it with the old sound in the history,
  /// and writes the result to `interleaved`.
  @_noLocks
  private func renderPiece(
    _ plan: RewritePlan, _ first: Int, _ count: Int, _ history: borrowing RenderHistory,
    _ interleaved: UnsafeMutablePointer<Float>
  ) {
    // Compute the new sum, and crossfade it with the old sum in the history. The crossfade has the
    // timing of the output: a frame of the sum leaves the limiter `plan.latency` frames later.
    history.load(.gain, at: first, gains.planes[0], count)
    for ear in 0..<2 {
      let (turned, sum, kept) = (ears.planes[ear], sums.planes[ear], old.planes[ear])
      history.load(ear == 0 ? .stillLeft : .stillRight, at: first, sum, count)
      for i in 0..<count { sum[i] += turned[i] * gains.planes[0][i] }
      history.load(ear == 0 ? .sumLeft : .sumRight, at: first, kept, count)
      goOver(kept, to: sum, plan, at: first + plan.latency, 0..<count)
      history.store(ear == 0 ? .sumLeft : .sumRight, at: first, kept, count)
    }
    // Limit the sum, and crossfade the output with the old output in the history.
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

  /// Replaces frames of the old sound with the new rendering, with crossfades at both ends of the
  /// window.
  ///
  /// - Parameter first: the output frame of the first sample of `kept` and `new`.
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

  /// Returns the length of the crossfade at the start of the window, in frames.
  @_noLocks
  private func joinLength(_ plan: RewritePlan) -> Int {
    plan.isJoined ? plan.first + plan.latency - plan.start : mixFrames
  }

  /// Returns the share of the new rendering at an output frame, 0 to 1.
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

  /// Records which parts of the history are mixtures of two renderings.
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
