// SPDX-License-Identifier: Apache-2.0

private import CRealtime
internal import Geometry
internal import HeadTracking
package import SignalProcessing
private import Synchronization

/// The audio thread's side of a player: takes frames from the ring, asks for the head, renders.
///
/// The sound fades out before it is held (pause, seek, an empty ring) and fades in again after;
/// while it is held no frame of the source is taken, so that none is lost.
///
/// ## Threading
/// `render` belongs to the audio thread: it allocates nothing, takes no lock and never waits.
/// Everything else is for any thread. The compiler's check cannot see through the objects it is
/// made of; RealtimeSafetyTests counts what it does.
package final class RenderFeed: @unchecked Sendable {
  package let ring: FrameRing
  package let renderer: Renderer
  let head: HeadToStageSource

  /// What the conductor wants and what the audio thread has come to.
  ///
  /// Each hold has a number of its own, 0 being none; `held` is the one that the audio thread was
  /// silent for, so that silence is never told of a chunk that was begun before the hold.
  private let wantedHold = Atomic(0)
  private let holds = Atomic(0)
  private let held = Atomic(-1)
  private let hasEnded = Atomic(false)
  private let exhausted = Atomic(false)
  private let starved = Atomic(false)
  private let begins = Atomic(false)
  private let volumeBits = Atomic<UInt32>(Float(1).bitPattern)
  /// Frame of the source that comes next out of the ring.
  private let position = Atomic<Int>(0)

  private let state: UnsafeMutablePointer<State>
  private let input: PlanarScratch
  private let ears: PlanarScratch
  let poses: UnsafeMutablePointer<Quaternion>
  let played: PlayedPoses
  let policy: RewritePolicy
  /// Whether the queue was rendered again the last time it was looked at.
  let isRewriting: UnsafeMutablePointer<Bool>
  /// What is taken from the ring after a fade has ended is not heard: little, therefore.
  private static let fadeFrames = 64
  private let reserve: Int

  private struct State {
    /// Frames rendered in all: the renderer's grid counts them.
    var rendered = 0
    /// Frames of silence still to be rendered after the end of the source.
    var tail: Int
    /// Of the ring; a new one begins with a seek.
    var generation = 0
  }

  package init(
    ring: FrameRing, renderer: Renderer, head: HeadToStageSource,
    policy: RewritePolicy = RewritePolicy()
  ) {
    self.ring = ring
    self.policy = policy
    self.renderer = renderer
    self.head = head
    input = PlanarScratch(channels: renderer.channels, frames: chunkFrames)
    ears = PlanarScratch(channels: 2, frames: chunkFrames)
    let points = max(chunkFrames, renderer.keptFrames) / Renderer.gridFrames + 3
    poses = .allocate(capacity: points)
    poses.initialize(repeating: .identity, count: points)
    played = PlayedPoses(points: points)
    isRewriting = .allocate(capacity: 1)
    isRewriting.initialize(to: false)
    state = .allocate(capacity: 1)
    state.initialize(to: State(tail: renderer.tailFrames + renderer.latencyFrames))
    reserve = Int(renderer.sampleRate * 0.08)
  }

  deinit {
    poses.deallocate()
    isRewriting.deallocate()
    state.deallocate()
  }

  // MARK: For the conductor

  /// Fade out and hold; or go on.
  package func hold(_ wanted: Bool) {
    guard wanted != (wantedHold.load(ordering: .relaxed) != 0) else { return }
    let number = wanted ? holds.add(1, ordering: .relaxed).newValue : 0
    wantedHold.store(number, ordering: .releasing)
  }
  /// True when nothing is heard any more of what is rendered now.
  package var isSilent: Bool {
    held.load(ordering: .acquiring) == wantedHold.load(ordering: .relaxed)
  }
  /// True while the ring is too empty to go on.
  package var isStarved: Bool { starved.load(ordering: .acquiring) }
  /// True when the source and its tail have been rendered.
  package var isExhausted: Bool { exhausted.load(ordering: .acquiring) }
  /// Nothing will be written to the ring any more, until a seek.
  package func setEnded(_ ended: Bool) {
    hasEnded.store(ended, ordering: .releasing)
    if !ended { exhausted.store(false, ordering: .releasing) }
  }
  /// The next frames begin from silence, as after a server came back.
  package func beginFromSilence() { begins.store(true, ordering: .releasing) }
  /// Linear.
  package var volume: Float {
    get { Float(bitPattern: volumeBits.load(ordering: .relaxed)) }
    set { volumeBits.store(newValue.bitPattern, ordering: .relaxed) }
  }
  /// The frame of the source that is rendered next.
  package var sourcePosition: Int {
    get { position.load(ordering: .relaxed) }
    set { position.store(newValue, ordering: .relaxed) }
  }

  // MARK: For the audio thread

  /// Fills `interleaved` with `frames` x 2 samples, first heard at `time` (CLOCK_MONOTONIC, ns).
  package func render(_ interleaved: UnsafeMutablePointer<Float>, frames: Int, time: Int64) {
    var done = 0
    while done < frames {
      let count = min(isFadingToHold ? Self.fadeFrames : chunkFrames, frames - done)
      let moment = time + Int64(Double(done) / renderer.sampleRate * 1e9)
      renderChunk(count, moment)
      for i in 0..<count {
        interleaved[2 * (done + i)] = ears.planes[0][i]
        interleaved[2 * (done + i) + 1] = ears.planes[1][i]
      }
      done += count
    }
  }

  private func renderChunk(_ count: Int, _ time: Int64) {
    if begins.exchange(false, ordering: .acquiringAndReleasing) { beginAnew() }
    let ended = hasEnded.load(ordering: .acquiring)
    let fill = ring.fill
    let lacks = !ended && fill < (starved.load(ordering: .relaxed) ? 3 * reserve : reserve)
    starved.store(lacks, ordering: .releasing)
    let hold = wantedHold.load(ordering: .acquiring)
    let isOpen = hold == 0 ? !lacks : false
    renderer.gain = isOpen ? volume : 0
    let isClosed = isOpen ? false : renderer.isSilenced
    held.store(isClosed ? hold : -1, ordering: .releasing)
    // A held ring still gives up what a seek has made stale.
    let taken =
      isClosed ? ring.discard(frames: 0) : ring.read(into: input.planes, frames: count)
    if ring.generation != state.pointee.generation { beginTailAnew() }
    for c in 0..<renderer.channels { clearFrames(input.planes[c] + taken, count - taken) }
    setPoses(count, time)
    renderer.process(
      input: UnsafePointer(input.planes), frames: count, poses: poses, left: ears.planes[0],
      right: ears.planes[1])
    state.pointee.rendered += count
    position.add(taken, ordering: .relaxed)
    if isClosed { return }
    if ended && taken < count && ring.fill == 0 { finishTail(count - taken) }
  }

  /// What filters and limiter still hold was meant for a server that is gone.
  private func beginAnew() {
    renderer.reset()
    state.pointee.rendered = 0
    isRewriting.pointee = false
  }

  private var isFadingToHold: Bool {
    let hold = wantedHold.load(ordering: .relaxed)
    return hold == 0 ? false : held.load(ordering: .relaxed) != hold
  }

  private func finishTail(_ frames: Int) {
    state.pointee.tail -= frames
    if state.pointee.tail <= 0 { exhausted.store(true, ordering: .releasing) }
  }

  private func beginTailAnew() {
    state.pointee.generation = ring.generation
    state.pointee.tail = renderer.tailFrames + renderer.latencyFrames
  }

  private func setPoses(_ count: Int, _ time: Int64) {
    let points = renderer.gridPoints(forNext: count)
    let rate = renderer.sampleRate
    let source = position.load(ordering: .relaxed)
    for i in 0..<points.count {
      let ahead = (points.lowerBound + i) * Renderer.gridFrames - state.pointee.rendered
      let heard = time + Int64(Double(ahead + renderer.latencyFrames) / rate * 1e9)
      let point = head.point(heardAt: heard, sourceSeconds: Double(source + ahead) / rate)
      played[points.lowerBound + i] = point
      poses[i] = point.headToStage
    }
  }
}
