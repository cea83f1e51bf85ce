// SPDX-License-Identifier: Apache-2.0

import CPipeWire
import CRealtime
internal import SoundServer
import Synchronization

/// Passes a virtual sink's sound through the render callback in each cycle of the graph.
///
/// The sink's stream triggers the playback stream in the same cycle. If the server resamples, the
/// streams can have different numbers of frames in a cycle. Surplus frames are held until the next
/// cycle.
///
/// ## Threading
/// While the streams run, only the data thread may use this value. Any thread may use `control`.
struct SinkFeed {
  /// The largest number of frames to hold between cycles. More would add too much latency.
  private static var mostHeld: Int {
    @_noLocks get { 64 }
  }
  /// The largest number of frames that are rendered in a cycle. A longer cycle is silent.
  private static var longestCycle: Int {
    @_noLocks get { 16_384 }
  }
  /// The longest pause between two cycles that does not count as a restart [ns].
  private static var longestGap: Int64 {
    @_noLocks get { 200_000_000 }
  }
  /// The number of silent frames that `holdSilence` holds if the server resamples.
  private static var cushion: Int {
    @_noLocks get { 4 }
  }
  private static var fadeSeconds: Float {
    @_noLocks get { 0.01 }
  }

  let control: UnsafeMutablePointer<FeedControl>
  private let functions: UnsafePointer<pipewire_library>
  private let function: LiveRenderCallback.Function
  private let context: UnsafeMutableRawPointer
  private let pump: UnsafeMutablePointer<PumpControl>
  private let channels: Int
  private let sampleRate: Int64
  private let fadeStep: Float
  private let held: UnsafeMutablePointer<Float>
  private var heldFrames = 0
  private var sink: OpaquePointer?
  private var playback: OpaquePointer?
  /// The sound of this cycle; nil if there is none or if `render` has already taken it.
  private var input: UnsafePointer<Float>?
  private var inputFrames = 0
  private var gain: Float = 0
  private var lastCycle: Int64 = 0
  private var graphRate: Int64 = 0
  /// The time at which the next cycle is due, in CLOCK_MONOTONIC nanoseconds.
  private var nextCycle: Int64 = 0

  init(
    library: PipeWireLibrary, callback: LiveRenderCallback, channels: Int, sampleRate: Int,
    pump: UnsafeMutablePointer<PumpControl>
  ) {
    functions = library.functions
    function = callback.function
    context = callback.context
    self.pump = pump
    self.channels = channels
    self.sampleRate = Int64(sampleRate)
    fadeStep = 1 / (Self.fadeSeconds * Float(sampleRate))
    held = .allocate(capacity: 2 * Self.longestCycle * channels)
    control = .allocate(capacity: 1)
    control.initialize(to: FeedControl())
  }

  /// Releases the memory. The streams must have been closed.
  func deallocate() {
    held.deallocate()
    control.deinitialize(count: 1)
    control.deallocate()
  }

  /// Prepares for new streams, whose sound fades in.
  mutating func begin(sink: OpaquePointer, playback: OpaquePointer) {
    (self.sink, self.playback) = (sink, playback)
    (heldFrames, inputFrames, input, gain) = (0, 0, nil, 0)
    (lastCycle, graphRate, nextCycle) = (0, 0, 0)
  }

  /// Takes the sink's sound and has the playback stream render it.
  ///
  /// The feed is accessed by pointer, because `render` changes it during this call.
  @_noLocks
  static func run(_ feed: UnsafeMutablePointer<SinkFeed>) {
    var taken = pipewire_input()
    guard let sink = feed.pointee.sink, let playback = feed.pointee.playback else { return }
    feed.pointee.take(from: sink, &taken)
    _ = pipewire_trigger(feed.pointee.functions, playback)
    feed.pointee.dropUnrendered()
    pipewire_give_back(feed.pointee.functions, sink, &taken)
  }

  @_noLocks
  private mutating func take(from sink: OpaquePointer, _ taken: inout pipewire_input) {
    let now = monotonic_nanoseconds()
    let isRestart = now &- lastCycle > Self.longestGap
    lastCycle = now
    _ = pipewire_take(functions, sink, Int64(channels), &taken)
    (input, inputFrames) = (taken.samples, taken.samples == nil ? 0 : Int(taken.frames))
    if inputFrames > Self.longestCycle { (input, inputFrames) = (nil, 0) }
    if isRestart { pump.pointee.isRelockDue.store(true, ordering: .relaxed) }
    if isRestart || taken.graph_rate != graphRate {
      graphRate = taken.graph_rate
      holdSilence()
    }
    publishAvailable()
    noteCycle(at: taken.now)
  }

  /// Counts a cycle in `steadyCycles` if it begins early or late by less than a quarter of its
  /// length. Otherwise, resets the counter.
  @_noLocks
  private mutating func noteCycle(at time: Int64) {
    let length = Int64(inputFrames) &* 1_000_000_000 / sampleRate
    let isSteady = (time &- nextCycle).magnitude < length.magnitude / 4
    if isSteady {
      control.pointee.steadyCycles.add(1, ordering: .relaxed)
    } else {
      control.pointee.steadyCycles.store(0, ordering: .relaxed)
    }
    nextCycle = time &+ length
  }

  /// Drops the held frames. If the server resamples, holds `cushion` silent frames instead.
  @_noLocks
  private mutating func holdSilence() {
    heldFrames = graphRate == sampleRate ? 0 : Self.cushion
    for index in 0..<heldFrames &* channels { held[index] = 0 }
  }

  /// Publishes the number of frames that can be rendered.
  @_noLocks
  private func publishAvailable() {
    pump.pointee.available.store(Int64(heldFrames &+ inputFrames), ordering: .relaxed)
  }

  /// Drops all sound if this cycle's sound was not rendered, or if more than `mostHeld` frames are
  /// held.
  @_noLocks
  private mutating func dropUnrendered() {
    if input != nil || heldFrames > Self.mostHeld { holdSilence() }
    (input, inputFrames) = (nil, 0)
  }

  /// Renders the frames that the playback stream needs. The function may be called repeatedly in
  /// one cycle.
  @_noLocks
  mutating func render(_ output: UnsafeMutablePointer<Float>, _ frames: Int, _ time: Int64) {
    guard frames <= Self.longestCycle else {
      for index in 0..<2 &* frames { output[index] = 0 }
      return
    }
    if heldFrames == 0, inputFrames == frames, let input {
      call(input, output, frames, time)
    } else {
      gather(frames)
      call(UnsafePointer(held), output, frames, time)
      drop(frames)
    }
    (input, inputFrames) = (nil, 0)
    publishAvailable()
    fade(output, frames)
  }

  @_noLocks
  private func call(
    _ sound: UnsafePointer<Float>, _ output: UnsafeMutablePointer<Float>, _ frames: Int,
    _ time: Int64
  ) {
    var isSilent = true
    for index in 0..<frames &* channels where sound[index] != 0 {
      isSilent = false
      break
    }
    _unsafePerformance { function(context, isSilent ? nil : sound, output, frames, time) }
  }

  /// Appends the cycle's sound to the held frames. Puts silence in front if there are fewer than
  /// `frames` frames.
  @_noLocks
  private mutating func gather(_ frames: Int) {
    let missing = frames &- heldFrames &- inputFrames
    if missing > 0 {
      let shift = missing &* channels
      var index = heldFrames &* channels
      while index > 0 {
        index &-= 1
        held[index &+ shift] = held[index]
      }
      for index in 0..<shift { held[index] = 0 }
      heldFrames &+= missing
    }
    let start = heldFrames &* channels
    if let input {
      for index in 0..<inputFrames &* channels { held[start &+ index] = input[index] }
    }
    heldFrames &+= inputFrames
  }

  @_noLocks
  private mutating func drop(_ frames: Int) {
    heldFrames &-= frames
    let start = frames &* channels
    for index in 0..<heldFrames &* channels { held[index] = held[start &+ index] }
  }

  @_noLocks
  private mutating func fade(_ output: UnsafeMutablePointer<Float>, _ frames: Int) {
    let aim: Float = control.pointee.isMuted.load(ordering: .relaxed) ? 0 : 1
    guard gain != aim || gain != 1 else { return }
    for frame in 0..<frames {
      let next = gain < aim ? gain + fadeStep : gain - fadeStep
      gain = gain < aim ? (next < aim ? next : aim) : (next > aim ? next : aim)
      output[2 &* frame] *= gain
      output[2 &* frame &+ 1] *= gain
    }
    control.pointee.isSilent.store(gain == 0, ordering: .releasing)
  }
}
