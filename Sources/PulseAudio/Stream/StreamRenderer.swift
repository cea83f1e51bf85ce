// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import SoundServer
import Synchronization

/// Renders the sound that the server requests.
///
/// ## Threading
/// Use it only on the main loop's thread, or with the main loop's lock held.
struct StreamRenderer {
  static let channelCount = 2
  /// The frame size in bytes: two channels of 32 bits.
  static var bytesPerFrame: Int {
    @_noLocks get { 8 }
  }

  let function: AudioRenderCallback.Function
  let prepareFunction: AudioRenderCallback.PrepareFunction?
  let rewriteFunction: AudioRenderCallback.RewriteFunction?
  let context: UnsafeMutableRawPointer
  let counters: UnsafeMutablePointer<OutputCounters>
  let sampleRate: Int
  var clock: PresentationClock
  var overwriter: QueueOverwriter
  /// Whether rendering is disabled, after `drain` or because the stream was opened paused.
  var isHeld = false
  /// The sum of the queue's granted depth and the sink's latency [ns]. It serves as the latency
  /// until the server reports one.
  var grantedLatency: Int64 = 0
  /// The smallest request to answer [bytes].
  var leastFill = 0

  /// The shortest time from a write until its first frame is audible, since the last tick [ns];
  /// `.max` if there was no write.
  var leastQueued = Int64.max

  /// The largest plausible excess of a reported latency over the granted latency [ns].
  private static let implausibleExcess: Int64 = 500_000_000

  init(
    callback: AudioRenderCallback, counters: UnsafeMutablePointer<OutputCounters>, sampleRate: Int,
    queueMilliseconds: Double
  ) {
    function = callback.function
    prepareFunction = callback.prepare
    rewriteFunction = callback.rewrite
    context = callback.context
    self.counters = counters
    self.sampleRate = sampleRate
    self.clock = PresentationClock(sampleRate: sampleRate)
    overwriter = QueueOverwriter(sampleRate: sampleRate, queueMilliseconds: queueMilliseconds)
  }

  /// Notes that the queue is empty: the next frame written is the next one to play.
  mutating func beginQueue() {
    clock.reset()
    overwriter.firstQueued = counters.pointee.framesWritten.load(ordering: .relaxed)
  }

  func deallocate() { overwriter.deallocate() }

  /// Rewrites one window of the queue. Does nothing if rendering is held or the source cannot
  /// render again.
  @_noLocks
  mutating func rewrite(_ stream: OpaquePointer) -> QueueOverwriter.Outcome {
    guard !isHeld, let rewriteFunction else { return .nothing }
    return overwriter.rewrite(
      stream, function: rewriteFunction, context: context,
      written: counters.pointee.framesWritten.load(ordering: .relaxed), clock: clock)
  }

  /// Renders `byteCount` bytes into the stream unless rendering is held.
  @_noLocks
  mutating func fill(_ stream: OpaquePointer, byteCount: Int) {
    counters.pointee.lastWrite.store(monotonic_nanoseconds(), ordering: .relaxed)
    guard !isHeld else { return }
    var frames = byteCount / Self.bytesPerFrame
    while frames > 0 {
      let written = fillOnce(stream, frames: frames)
      guard written > 0 else { return }
      frames -= written
    }
  }

  /// Renders up to `wanted` frames into the server's memory. Returns the number of frames written;
  /// 0 on failure.
  @_noLocks
  private mutating func fillOnce(_ stream: OpaquePointer, frames wanted: Int) -> Int {
    var memory: UnsafeMutableRawPointer?
    var size = wanted * Self.bytesPerFrame
    guard pulse_begin_write(stream, &memory, &size) >= 0, let memory else { return 0 }
    let room = size / Self.bytesPerFrame
    let frames = room < wanted ? room : wanted
    guard frames > 0 else {
      _ = pulse_cancel_write(stream)
      return 0
    }
    let position = counters.pointee.framesWritten.load(ordering: .relaxed)
    let time = presentationTime(stream, position)
    let samples = memory.assumingMemoryBound(to: Float.self)
    if let prepareFunction { _unsafePerformance { prepareFunction(context, frames) } }
    realtime_enter()
    _unsafePerformance { function(context, samples, frames, time) }
    realtime_exit()
    overwriter.shadow.store(samples, position: position, frames: frames)
    counters.pointee.framesWritten.store(position &+ Int64(frames), ordering: .relaxed)
    guard pulse_write(stream, memory, frames * Self.bytesPerFrame) >= 0 else { return 0 }
    return frames
  }

  /// Returns the presentation time of the next frame [ns] and updates `leastQueued`. If
  /// `clock.isLost`, the clock first adopts the latency that libpulse reports or, before the first
  /// report, the granted latency.
  @_noLocks
  private mutating func presentationTime(_ stream: OpaquePointer, _ position: Int64) -> Int64 {
    let now = monotonic_nanoseconds()
    if clock.isLost {
      let reported = reportedLatency(of: stream)
      clock.observe(
        position: position, now: now, latency: reported < 0 ? grantedLatency : reported)
      clock.relock()
    }
    let time = clock.nextPresentationTime(position: position)
    let queued = time &- now
    leastQueued = queued < leastQueued ? queued : leastQueued
    return time
  }

  mutating func observeTiming(_ stream: OpaquePointer) {
    let latency = reportedLatency(of: stream)
    guard latency >= 0 else { return }
    clock.observe(
      position: counters.pointee.framesWritten.load(ordering: .relaxed),
      now: monotonic_nanoseconds(), latency: latency)
  }

  /// Returns the reported latency [ns] and stores it in `counters`. Returns -1 before the first
  /// report. A reported latency is limited to the range from 0 to the granted latency plus 500 ms.
  @_noLocks
  private func reportedLatency(of stream: OpaquePointer) -> Int64 {
    var reported: Int64 = 0
    guard pulse_latency_nanoseconds(stream, &reported) >= 0 else { return -1 }
    let most = grantedLatency &+ Self.implausibleExcess
    let latency = reported < 0 ? 0 : (reported > most ? most : reported)
    counters.pointee.latency.store(latency, ordering: .relaxed)
    return latency
  }

  /// Returns the number of written frames that are not yet audible at `time`, in CLOCK_MONOTONIC
  /// nanoseconds. The number is limited to the granted latency. Returns 0 while `clock` has no
  /// estimate.
  func framesQueued(at time: Int64) -> Int {
    let written = counters.pointee.framesWritten.load(ordering: .relaxed)
    guard let heard = clock.positionHeard(at: time, written: written) else { return 0 }
    let most = grantedLatency * Int64(sampleRate) / 1_000_000_000
    return Int(min(written - heard, most, written))
  }
}

/// Answers a write request unless it is smaller than `leastFill`.
func streamWantsAudio(
  _ stream: OpaquePointer?, _ byteCount: Int, _ renderer: UnsafeMutableRawPointer?
) {
  guard let stream, let renderer = renderer?.assumingMemoryBound(to: StreamRenderer.self),
    byteCount >= renderer.pointee.leastFill
  else { return }
  renderer.pointee.fill(stream, byteCount: byteCount)
}
