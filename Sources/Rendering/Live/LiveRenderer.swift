// SPDX-License-Identifier: Apache-2.0

private import Binaural
internal import Geometry
internal import SignalProcessing
package import Surround
private import Synchronization

/// Renders sound as it arrives.
///
/// Rendering pauses during silence, once all earlier sound has ended.
///
/// ## Threading
/// Only the audio thread may call `render`, which allocates nothing, takes no lock and never waits.
/// Any thread may read the properties.
package final class LiveRenderer: @unchecked Sendable {
  package let renderer: Renderer
  /// The number of channels of the input.
  package let channels: Int
  /// The delay from the input to the output, in frames.
  package var delayFrames: Int { upmixFrames + filterFrames + renderer.latencyFrames }
  /// The delay of the upmix, in frames; 0 without an upmix.
  package let upmixFrames: Int
  /// The delay of the decoder's filters, in frames.
  package let filterFrames: Int

  private static let warmUpPasses = 8
  private let head: HeadToStageSource
  private let state: UnsafeMutablePointer<State>
  private let input: PlanarScratch
  private let bed: PlanarScratch
  private let ears: PlanarScratch
  private let poses: UnsafeMutablePointer<Quaternion>
  private let isIdle = Atomic(true)

  private struct State: ~Copyable {
    var upmix: LiveUpmix?
    /// The number of frames that `renderer` has received. It does not grow during pauses.
    var rendered = 0
    /// The number of frames since the last chunk that was not silent.
    var silent: Int
  }

  /// - Parameters:
  ///   - renderer: a renderer for the input layout; for `Upmixer.layout` if `upmix` is not nil.
  ///   - head: supplies the poses; no other renderer may use it.
  ///   - upmix: settings for the upmix of a stereo input; nil for no upmix.
  package init(renderer: Renderer, head: HeadToStageSource, upmix: UpmixSettings?) {
    self.renderer = renderer
    self.head = head
    let rate = renderer.sampleRate
    state = .allocate(capacity: 1)
    state.initialize(to: State(upmix: nil, silent: Int.max / 2))
    if let upmix { state.pointee.upmix = LiveUpmix(sampleRate: rate, settings: upmix) }
    channels = upmix == nil ? renderer.channels : 2
    upmixFrames = state.pointee.upmix?.latencyFrames ?? 0
    filterFrames = Int((BinauralFilters.delaySeconds * rate).rounded())
    input = PlanarScratch(channels: channels, frames: chunkFrames)
    bed = PlanarScratch(channels: renderer.channels, frames: chunkFrames)
    ears = PlanarScratch(channels: 2, frames: chunkFrames)
    let points = chunkFrames / Renderer.gridFrames + 3
    poses = .allocate(capacity: points)
    poses.initialize(repeating: .identity, count: points)
  }

  deinit {
    poses.deallocate()
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// Renders a short signal that is not played, and then resets the renderer. This loads the memory
  /// and code that rendering uses. Call this function before the audio thread starts.
  package func warmUp() {
    let samples = [Float](unsafeUninitializedCapacity: chunkFrames * channels) { samples, count in
      count = chunkFrames * channels
      for i in 0..<count { samples[i] = i.isMultiple(of: 2) ? 0.01 : -0.01 }
    }
    var output = [Float](repeating: 0, count: 2 * chunkFrames)
    let start = head.now
    for pass in 0..<Self.warmUpPasses {
      let time = start + Int64(Double(pass * chunkFrames) / renderer.sampleRate * 1e9)
      render(samples, into: &output, frames: chunkFrames, time: time)
    }
    renderer.reset()
    state.pointee.upmix?.reset()
    (state.pointee.rendered, state.pointee.silent) = (0, Int.max / 2)
    isIdle.store(true, ordering: .relaxed)
  }

  /// Whether rendering is paused because of silence. True before the first sound.
  package var isSilent: Bool { isIdle.load(ordering: .relaxed) }

  /// Renders the next frames.
  ///
  /// - Parameters:
  ///   - samples: `frames` x channels, interleaved; nil for silence.
  ///   - output: receives `frames` x 2 interleaved samples.
  ///   - frames: the number of frames.
  ///   - time: when the first frame of the output is heard, in CLOCK_MONOTONIC nanoseconds.
  package func render(
    _ samples: UnsafePointer<Float>?, into output: UnsafeMutablePointer<Float>, frames: Int,
    time: Int64
  ) {
    var done = 0
    while done < frames {
      let count = min(chunkFrames, frames - done)
      let moment = time + Int64(Double(done) / renderer.sampleRate * 1e9)
      renderChunk(samples.map { $0 + done * channels }, output + 2 * done, count, moment)
      done += count
    }
  }

  private func renderChunk(
    _ samples: UnsafePointer<Float>?, _ output: UnsafeMutablePointer<Float>, _ count: Int,
    _ time: Int64
  ) {
    let isSilence = load(samples, count)
    state.pointee.silent = isSilence ? min(state.pointee.silent + count, Int.max / 2) : 0
    // Twice the delay also covers the overlap of the upmix.
    let isOver = state.pointee.silent > 2 * delayFrames + renderer.tailFrames + count
    isIdle.store(isOver, ordering: .relaxed)
    if isOver {
      clearFrames(output, 2 * count)
      return
    }
    if state.pointee.upmix != nil {
      state.pointee.upmix!.process(input.planes, into: bed.planes, frames: count)
    } else {
      for c in 0..<channels { copyFrames(input.planes[c], bed.planes[c], count) }
    }
    setPoses(count, time)
    renderer.process(
      input: UnsafePointer(bed.planes), frames: count, poses: poses, left: ears.planes[0],
      right: ears.planes[1])
    state.pointee.rendered += count
    for i in 0..<count {
      output[2 * i] = ears.planes[0][i]
      output[2 * i + 1] = ears.planes[1][i]
    }
  }

  /// Copies interleaved samples to the planes of `input`; nil becomes silence. Returns whether all
  /// samples are zero.
  private func load(_ samples: UnsafePointer<Float>?, _ count: Int) -> Bool {
    guard let samples else {
      for c in 0..<channels { clearFrames(input.planes[c], count) }
      return true
    }
    var isSilence = true
    for c in 0..<channels {
      let plane = input.planes[c]
      for i in 0..<count {
        let sample = samples[i * channels + c]
        plane[i] = sample
        if sample != 0 { isSilence = false }
      }
    }
    return isSilence
  }

  private func setPoses(_ count: Int, _ time: Int64) {
    let points = renderer.gridPoints(forNext: count)
    let rate = renderer.sampleRate
    for i in 0..<points.count {
      let ahead = (points.lowerBound + i) * Renderer.gridFrames - state.pointee.rendered
      let heard = time + Int64(Double(ahead + renderer.latencyFrames) / rate * 1e9)
      poses[i] = head.point(heardAt: heard, sourceSeconds: 0).headToStage
    }
  }
}
