// SPDX-License-Identifier: Apache-2.0

package import AudioMix
private import CRealtime
internal import Geometry
internal import HeadTracking
package import SignalProcessing
private import Synchronization

/// Renders the frames of a ring on the audio thread.
///
/// The sound fades out before a hold and fades in afterwards. During a hold, no frame is played.
///
/// ## Threading
/// Only the audio thread may call `render` and `rewrite`, which allocate nothing, take no lock and
/// never wait. Only the thread that writes to `ring` may call `prepareJump`. Any thread may use the
/// other package members.
package final class RenderFeed: @unchecked Sendable {
  package let ring: FrameRing
  package let renderer: Renderer
  let head: HeadToStageSource
  private let jump: SourceJump
  /// Mixes the stems in the ring; nil if the ring contains the renderer's channels.
  package let mixer: StemMixer?
  /// The mixer for the audio thread, which must not retain it.
  private let mixing: Unmanaged<StemMixer>?

  /// `wantedHold` is the number of the wanted hold; 0 if no hold is wanted. After the sound has
  /// faded out, for a hold or because the ring is too empty, `held` is the value of `wantedHold`
  /// that the audio thread last read. Otherwise, `held` is -1.
  ///
  /// Each hold has a new number from `holds`. A chunk that began before a hold therefore never
  /// counts as silent for that hold.
  private let wantedHold = Atomic(0)
  private let holds = Atomic(0)
  private let held = Atomic(-1)
  private let hasEnded = Atomic(false)
  private let exhausted = Atomic(false)
  private let starved = Atomic(false)
  private let begins = Atomic(false)
  private let volumeBits = Atomic<UInt32>(Float(1).bitPattern)
  /// The source frame that is read from the ring next.
  private let position = Atomic<Int>(0)

  private let state: UnsafeMutablePointer<State>
  private let input: PlanarScratch
  private let ears: PlanarScratch
  let poses: UnsafeMutablePointer<Quaternion>
  let played: PlayedPoses
  let policy: RewritePolicy
  /// Whether the queue was rendered again at the last check.
  let isRewriting: UnsafeMutablePointer<Bool>
  /// The size of a chunk during a fade-out, in frames. In the last chunk, the frames after the end
  /// of the fade-out are lost.
  private static let fadeFrames = 64
  private let reserve: Int

  private struct State {
    /// The number of frames rendered since the renderer's last reset.
    var rendered = 0
    /// The number of frames still to be rendered from silence after the end of the source.
    var tail: Int
    /// The generation of the ring in the last chunk.
    var generation = 0
  }

  package init(
    ring: FrameRing, renderer: Renderer, head: HeadToStageSource,
    mixer: StemMixer? = nil, policy: RewritePolicy = RewritePolicy()
  ) {
    self.ring = ring
    self.mixer = mixer
    mixing = mixer.map { Unmanaged.passUnretained($0) }
    self.policy = policy
    self.renderer = renderer
    self.head = head
    jump = SourceJump(sampleRate: renderer.sampleRate)
    input = PlanarScratch(channels: ring.channelCount, frames: chunkFrames)
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

  /// Fades the sound out and holds it, or resumes.
  package func hold(_ wanted: Bool) {
    guard wanted != (wantedHold.load(ordering: .relaxed) != 0) else { return }
    let number = wanted ? holds.add(1, ordering: .relaxed).newValue : 0
    wantedHold.store(number, ordering: .releasing)
  }
  /// Whether the sound has faded out for the wanted hold or because the ring is too empty.
  package var isSilent: Bool {
    held.load(ordering: .acquiring) == wantedHold.load(ordering: .relaxed)
  }
  /// Whether frames are being played: no hold is wanted or still in effect, rendering does not wait
  /// for the ring, and the tail has not ended.
  package var isPlaying: Bool {
    wantedHold.load(ordering: .relaxed) == 0 && held.load(ordering: .acquiring) == -1
      && !isStarved && !isExhausted
  }
  /// Whether rendering is waiting for the ring to fill. The wait begins when the ring contains less
  /// than 80 ms of sound, unless the source has ended. It ends at 240 ms or when the source has
  /// ended.
  package var isStarved: Bool { starved.load(ordering: .acquiring) }
  /// Whether the source and its tail have been rendered completely.
  package var isExhausted: Bool { exhausted.load(ordering: .acquiring) }
  /// The number of frames in the ring at which a wait for the ring ends.
  package var resumeFrames: Int { 3 * reserve }
  /// Declares that the frames written to the ring from now on come from another part of the source.
  package func prepareJump() { jump.prepare(afterWritten: ring.writtenFrames) }
  /// Makes the audio thread fade out, drop the rest of the frames written before `prepareJump`, and
  /// fade in.
  ///
  /// - Parameter frame: the source frame of the first frame written after `prepareJump`.
  package func jump(toSourceFrame frame: Int) { jump.order(toSourceFrame: frame) }
  /// Cancels a prepared jump. Flush the ring afterwards, because it may contain frames from both
  /// parts of the source.
  package func cancelJump() { jump.cancel() }
  /// Whether a jump has been prepared and has not taken place yet.
  package var isJumping: Bool { jump.isPending }
  /// Sets whether the source has ended. If so, the rest of the ring and then the tail are rendered.
  package func setEnded(_ ended: Bool) {
    hasEnded.store(ended, ordering: .releasing)
    if !ended { exhausted.store(false, ordering: .releasing) }
  }
  /// Resets the renderer before the next frames are rendered.
  package func beginFromSilence() { begins.store(true, ordering: .releasing) }
  /// The linear output gain. During a hold or a wait for the ring, the gain is 0 instead.
  package var volume: Float {
    get { Float(bitPattern: volumeBits.load(ordering: .relaxed)) }
    set { volumeBits.store(newValue.bitPattern, ordering: .relaxed) }
  }
  /// The source frame that is rendered next. Set it only for a seek.
  package var sourcePosition: Int {
    get { position.load(ordering: .relaxed) }
    set { position.store(newValue, ordering: .relaxed) }
  }

  // MARK: For the audio thread

  /// Renders `frames` x 2 interleaved samples. The first frame is audible at `time`, in
  /// CLOCK_MONOTONIC nanoseconds.
  package func render(_ interleaved: UnsafeMutablePointer<Float>, frames: Int, time: Int64) {
    var done = 0
    while done < frames {
      let isFading = isFadingToHold || jump.isOrdered
      let count = min(isFading ? Self.fadeFrames : chunkFrames, frames - done)
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
    // Play unless the sound is held or the ring lacks sound.
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
    let (most, arrival) = jump.advance(ring, isInaudible: isClosed)
    if let arrival {
      position.store(arrival, ordering: .relaxed)
      beginTailAnew()
    }
    // Even during a hold, drop the frames that a seek has made stale. Take at most `fill` frames,
    // because later frames may belong to a jump that was prepared after `most` was determined.
    let taken =
      isClosed
      ? ring.discard(frames: 0)
      : ring.read(into: input.planes, frames: min(count, arrival == nil ? fill : count, most))
    jump.fade(UnsafePointer(input.planes), channels: input.channels, frames: taken)
    // Fill up with silence, and render.
    if ring.generation != state.pointee.generation { beginTailAnew() }
    for c in 0..<input.channels { clearFrames(input.planes[c] + taken, count - taken) }
    mixing?._withUnsafeGuaranteedRef {
      $0.process(UnsafePointer(input.planes), into: UnsafePointer(input.planes), frames: count)
    }
    setPoses(count, time)
    renderer.process(
      input: UnsafePointer(input.planes), frames: count, poses: poses, left: ears.planes[0],
      right: ears.planes[1])
    state.pointee.rendered += count
    position.add(taken, ordering: .relaxed)
    if isClosed { return }
    if ended && taken < count && ring.fill == 0 { finishTail(count - taken) }
  }

  /// Drops the sound in the filters and the limiter.
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
