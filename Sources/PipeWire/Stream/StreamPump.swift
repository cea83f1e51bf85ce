// SPDX-License-Identifier: Apache-2.0

import CPipeWire
import CRealtime
internal import SoundServer
import Synchronization

/// The requests and reports that the data thread shares with the loop's thread.
struct PumpControl: ~Copyable {
  /// Whether silence replaces the rendered sound because of `drain`.
  let isHeld = Atomic(false)
  /// Whether rendering is briefly forbidden.
  let isBlocked = Atomic(false)
  /// Whether the render callback may be running.
  let isRendering = Atomic(false)
  /// Whether the clock must accept the next report unconditionally.
  let isRelockDue = Atomic(false)
  /// Whether the clock must be reset.
  let isResetDue = Atomic(false)
  /// The time at which the end of the rendered sound is heard, in CLOCK_MONOTONIC nanoseconds.
  let end = Atomic<Int64>(0)
  /// The number of frames in the last cycle; 0 before the first one.
  let quantum = Atomic<Int64>(0)
  /// The time from the start of the last cycle until its first frame is heard [ns].
  let delay = Atomic<Int64>(0)
  /// The number of silent buffers that were sent since the last call of `drain`.
  let heldCycles = Atomic<Int64>(0)
  /// The number of frames that can be rendered in the next buffer; 0 if the number is not limited.
  let available = Atomic<Int64>(0)
  /// The number of times that the graph skipped one or more cycles.
  let misses = Atomic<Int64>(0)
}

/// Fills the stream's buffers, usually one in each cycle of the graph.
///
/// ## Threading
/// While a stream runs, only the data thread changes this value. Other threads use `control`,
/// `counters` and `framesQueued`.
struct StreamPump {
  static var channelCount: Int {
    @_noLocks get { 2 }
  }
  /// The largest plausible delay [ns].
  private static var longestDelay: Int64 {
    @_noLocks get { 4_000_000_000 }
  }
  /// The largest difference that resampling can cause between the numbers of requested and
  /// available frames.
  private static var resamplingDifference: Int64 {
    @_noLocks get { 8 }
  }

  let functions: UnsafePointer<pipewire_library>
  let function: AudioRenderCallback.Function
  let context: UnsafeMutableRawPointer
  let counters: UnsafeMutablePointer<OutputCounters>
  let control: UnsafeMutablePointer<PumpControl>
  let sampleRate: Int64
  var stream: OpaquePointer?
  /// The stream that triggers this stream in each cycle; nil if the graph runs this stream
  /// directly.
  var trigger: OpaquePointer?
  var clock: PresentationClock
  private var last = pipewire_cycle()
  private var lastFrames: Int64 = 0

  init(
    library: PipeWireLibrary, callback: AudioRenderCallback,
    counters: UnsafeMutablePointer<OutputCounters>, control: UnsafeMutablePointer<PumpControl>,
    sampleRate: Int
  ) {
    functions = library.functions
    function = callback.function
    context = callback.context
    (self.counters, self.control) = (counters, control)
    self.sampleRate = Int64(sampleRate)
    clock = PresentationClock(sampleRate: sampleRate)
  }

  mutating func begin(_ stream: OpaquePointer) {
    self.stream = stream
    clock.reset()
    last = pipewire_cycle()
    lastFrames = 0
  }

  @_noLocks
  mutating func run() {
    var cycle = pipewire_cycle()
    guard let stream, pipewire_begin(functions, stream, trigger, sampleRate, &cycle) else { return }
    let now = monotonic_nanoseconds()
    if cycle.now == 0 { cycle.now = now }
    limit(&cycle)
    counters.pointee.lastWrite.store(now, ordering: .relaxed)
    let isContinued = lastFrames > 0 && cycle.now == last.now
    if isContinued {
      lastFrames &+= cycle.frames
    } else {
      observe(&cycle)
    }
    // Sequential consistency guarantees that this thread sees `isBlocked`, or that the thread that
    // set it sees `isRendering`, or both.
    control.pointee.isRendering.store(true, ordering: .sequentiallyConsistent)
    let isBlocked = control.pointee.isBlocked.load(ordering: .sequentiallyConsistent)
    if isBlocked || control.pointee.isHeld.load(ordering: .relaxed) {
      control.pointee.isRendering.store(false, ordering: .releasing)
      sendSilence(&cycle, stream)
    } else {
      render(&cycle, now: now, isContinued: isContinued)
      control.pointee.isRendering.store(false, ordering: .releasing)
      pipewire_end(functions, stream, &cycle, cycle.frames)
    }
    control.pointee.quantum.store(lastFrames, ordering: .relaxed)
  }

  /// Corrects the number of frames of a virtual sink whose cycle length has just changed. In the
  /// first cycle of the new length, the server still asks for as many frames as before.
  @_noLocks
  private func limit(_ cycle: inout pipewire_cycle) {
    let available = control.pointee.available.load(ordering: .relaxed)
    let difference = cycle.frames &- available
    guard available > 0, difference.magnitude > Self.resamplingDifference else { return }
    cycle.frames = available < cycle.capacity ? available : cycle.capacity
  }

  @_noLocks
  private mutating func render(
    _ cycle: inout pipewire_cycle, now: Int64, isContinued: Bool
  ) {
    let position = counters.pointee.framesWritten.load(ordering: .relaxed)
    // The reported delay applies to the first buffer of a cycle, not to further buffers.
    if !isContinued {
      clock.observe(position: position, now: cycle.now, latency: cycle.delay)
    }
    let time = clock.nextPresentationTime(position: position)
    let length = cycle.frames &* 1_000_000_000 / sampleRate
    // This is the latency of the first frame after this buffer, so the buffer counts as queued.
    let latency = time &+ length &- now
    counters.pointee.latency.store(latency < 0 ? 0 : latency, ordering: .relaxed)
    let (samples, frames) = (cycle.samples, Int(cycle.frames))
    guard let samples else { return }
    realtime_enter()
    _unsafePerformance { function(context, samples, frames, time) }
    realtime_exit()
    counters.pointee.framesWritten.store(position &+ cycle.frames, ordering: .relaxed)
    control.pointee.end.store(time &+ length, ordering: .relaxed)
  }

  @_noLocks
  private mutating func sendSilence(_ cycle: inout pipewire_cycle, _ stream: OpaquePointer) {
    if let samples = cycle.samples {
      for index in 0..<Int(cycle.frames) * Self.channelCount { samples[index] = 0 }
    }
    // Time passes without new frames, so accept the next report unconditionally.
    clock.relock()
    control.pointee.heldCycles.add(1, ordering: .relaxed)
    pipewire_end(functions, stream, &cycle, cycle.frames)
  }

  /// Limits the reported delay, resets or relocks the clock if requested, and counts the times that
  /// the graph skipped cycles.
  @_noLocks
  private mutating func observe(_ cycle: inout pipewire_cycle) {
    cycle.delay = cycle.delay < 0 ? 0 : cycle.delay
    cycle.delay = cycle.delay > Self.longestDelay ? Self.longestDelay : cycle.delay
    control.pointee.delay.store(cycle.delay, ordering: .relaxed)
    let isReset = control.pointee.isResetDue.exchange(false, ordering: .acquiring)
    let isRelocked = control.pointee.isRelockDue.exchange(false, ordering: .acquiring)
    if isReset { clock.reset() }
    if isRelocked { clock.relock() }
    let elapsed = cycle.now &- last.now
    if lastFrames > 0, !isReset, !isRelocked, cycle.rate > 0 {
      // If the cycle length has just changed, the graph may already have counted the new length.
      let frames = lastFrames > cycle.frames ? lastFrames : cycle.frames
      let length = frames &* 1_000_000_000 / sampleRate
      // Check the graph's own count, too: the elapsed time alone could also mean a late cycle.
      let counted = (cycle.ticks &- last.ticks) &* 1_000_000_000 / cycle.rate
      if counted > length &+ length / 2, elapsed > length &+ length / 2 {
        control.pointee.misses.add(1, ordering: .relaxed)
        clock.relock()
      }
    }
    last = cycle
    lastFrames = cycle.frames
  }

  /// Returns the number of rendered frames that are not yet audible at `time`; 0 if the clock has
  /// received no report since it was reset.
  func framesQueued(at time: Int64) -> Int {
    let written = counters.pointee.framesWritten.load(ordering: .relaxed)
    guard let heard = clock.positionHeard(at: time, written: written) else { return 0 }
    return Int(min(written - max(0, heard), written))
  }
}
