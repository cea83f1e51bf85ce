// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
public import Binaural
public import Geometry
internal import SignalProcessing

/// Renders samples that a program supplies, with a head pose for each call.
///
/// During a call, the head turns at constant speed from the previous pose to the new pose. During
/// the first call, it has the new pose throughout.
///
/// ```swift
/// let renderer = try SampleRenderer(layout: .mono, sampleRate: 48000)
/// let turned = YawPitchRoll(yaw: 90).quaternion
/// let ears = renderer.render(samples, headPose: turned)  // left, right, left, right, ...
/// ```
///
/// The filters delay the sound by `BinauralFilters.delaySeconds` (1 ms). `Renderer.latencyFrames`
/// is an additional delay.
///
/// ## Threading
/// One thread at a time may render. `process` is for an audio thread: it allocates nothing, takes
/// no lock and never waits. The functions that return arrays allocate memory. Any thread may use
/// the renderer's gain, mode and counters.
public final class SampleRenderer: @unchecked Sendable {
  /// The renderer with the gain, the mode, the levels and the counters. Do not call its `process`
  /// or `reset` function.
  public let renderer: Renderer
  /// Notes for the listener about the HRTF set.
  public let notes: [String]

  /// The number of input channels.
  public let channels: Int
  /// The sample rate of input and output, in Hz.
  public var sampleRate: Double { renderer.sampleRate }

  private let interpolator: PoseInterpolator
  private let input: PlanarScratch
  private let ears: PlanarScratch
  /// Pointers to the current chunk in the caller's channels.
  private let starts: UnsafeMutablePointer<UnsafeMutablePointer<Float>>

  /// Reads the HRTF set, designs the filters and creates a renderer.
  ///
  /// - Parameters:
  ///   - layout: the layout of the input channels; not `.unknown`.
  ///   - sampleRate: the sample rate of input and output, 8,000 to 384,000 Hz.
  ///   - settings: how to render. `layout`, `track`, `dynamicRange`, `loudness`, `upmix` and `mix`
  ///     are ignored.
  ///   - finish: gain, fade-in and limiter. Its gain is multiplied by the gain in `settings`.
  /// - Throws: `PlaybackError.hrtf` if the set cannot be read, and the errors of
  ///   `HRTFChoice.filters(for:settings:sampleRate:)`.
  public convenience init(
    layout: ChannelLayout, sampleRate: Double, settings: RenderSettings = RenderSettings(),
    finish: Renderer.Finish = .linear
  ) throws(PlaybackError) {
    let hrtf = try HRTFChoice(path: settings.hrtfPath)
    let filters = try hrtf.filters(for: layout, settings: settings, sampleRate: sampleRate)
    self.init(
      layout: layout, filters: filters, settings: settings, finish: finish, notes: hrtf.notes)
  }

  /// Creates a renderer with existing filters.
  ///
  /// - Parameters:
  ///   - layout: the layout of the input channels; not `.unknown`.
  ///   - filters: filters made by `HRTFChoice.filters(for:settings:sampleRate:)` for the same
  ///     layout and settings. The filters determine the sample rate.
  ///   - settings: how to render. Only `busOrder`, `blockFrames`, `spatialization` and
  ///     `gainDecibels` are used.
  ///   - finish: gain, fade-in and limiter. Its gain is multiplied by the gain in `settings`.
  ///   - notes: notes for the listener about the HRTF set.
  public init(
    layout: ChannelLayout, filters: BinauralFilters, settings: RenderSettings = RenderSettings(),
    finish: Renderer.Finish = .linear, notes: [String] = []
  ) {
    if case .unknown = layout { preconditionFailure("the layout of the channels must be known") }
    var finish = finish
    finish.gain *= linearGain(decibels: settings.gainDecibels)
    renderer = Renderer(
      layout: layout, filters: filters, busOrder: settings.busOrder,
      blockFrames: settings.blockFrames,
      mode: settings.spatialization.includes(layout) ? .spatial : .plain, finish: finish)
    self.notes = notes
    channels = renderer.channels
    interpolator = PoseInterpolator(capacity: chunkFrames / Renderer.gridFrames + 3)
    input = PlanarScratch(channels: channels, frames: chunkFrames)
    ears = PlanarScratch(channels: 2, frames: chunkFrames)
    starts = .allocate(capacity: channels)
    starts.initialize(repeating: input.planes[0], count: channels)
  }

  deinit { starts.deallocate() }

  // MARK: On an audio thread

  // These functions are not `@_noLocks`, because the compiler counts passing another object as a
  // retain. A release build omits the retain.

  /// Renders the next frames of planar input.
  ///
  /// - Parameters:
  ///   - input: channels x frames, not modified; nil for silence.
  ///   - frames: the number of frames.
  ///   - headPose: `headToWorld` at the end of the call. If it is invalid, the last pose is held.
  ///   - left: receives `frames` samples.
  ///   - right: receives `frames` samples.
  public func process(
    planar input: UnsafePointer<UnsafeMutablePointer<Float>>?, frames: Int,
    headPose: Quaternion, left: UnsafeMutablePointer<Float>, right: UnsafeMutablePointer<Float>
  ) {
    interpolator.begin(headPose, frames: frames)
    var done = 0
    while done < frames {
      let count = min(chunkFrames, frames - done)
      if let input {
        for c in 0..<channels { starts[c] = input[c] + done }
      }
      renderChunk(input == nil ? nil : UnsafePointer(starts), count, left + done, right + done)
      done += count
    }
    interpolator.end()
  }

  /// Renders the next frames of interleaved input.
  ///
  /// - Parameters:
  ///   - input: frames x channels; nil for silence.
  ///   - frames: the number of frames.
  ///   - headPose: `headToWorld` at the end of the call. If it is invalid, the last pose is held.
  ///   - output: receives frames x 2: left, right.
  public func process(
    interleaved input: UnsafePointer<Float>?, frames: Int, headPose: Quaternion,
    into output: UnsafeMutablePointer<Float>
  ) {
    interpolator.begin(headPose, frames: frames)
    var done = 0
    while done < frames {
      let count = min(chunkFrames, frames - done)
      if let input { separate(input + done * channels, count) }
      renderChunk(
        input == nil ? nil : UnsafePointer(self.input.planes), count, ears.planes[0],
        ears.planes[1])
      for i in 0..<count {
        output[2 * (done + i)] = ears.planes[0][i]
        output[2 * (done + i) + 1] = ears.planes[1][i]
      }
      done += count
    }
    interpolator.end()
  }

  private func renderChunk(
    _ planes: UnsafePointer<UnsafeMutablePointer<Float>>?, _ frames: Int,
    _ left: UnsafeMutablePointer<Float>, _ right: UnsafeMutablePointer<Float>
  ) {
    interpolator.place(on: renderer.gridPoints(forNext: frames))
    renderer.process(
      input: planes, frames: frames, poses: interpolator.poses, left: left, right: right)
  }

  @_noLocks
  private func separate(_ samples: UnsafePointer<Float>, _ frames: Int) {
    for c in 0..<channels {
      let plane = input.planes[c]
      for i in 0..<frames { plane[i] = samples[i * channels + c] }
    }
  }

  // MARK: With arrays

  /// Renders the next frames.
  ///
  /// - Parameters:
  ///   - samples: frames x channels.
  ///   - headPose: `headToWorld` at the end of the call.
  /// - Returns: frames x 2: left, right.
  public func render(_ samples: [Float], headPose: Quaternion = .identity) -> [Float] {
    precondition(
      samples.count.isMultiple(of: channels),
      "\(samples.count) samples are not a whole number of \(channels)-channel frames")
    return samples.withUnsafeBufferPointer {
      render($0.baseAddress, frames: samples.count / channels, headPose)
    }
  }

  /// Renders the rest of the output after the input has ended: the frames of the latency and of the
  /// tail.
  ///
  /// - Parameter headPose: `headToWorld` at the end of the call.
  /// - Returns: frames x 2: left, right.
  public func renderTail(headPose: Quaternion = .identity) -> [Float] {
    render(nil, frames: renderer.tailFrames + renderer.latencyFrames, headPose)
  }

  private func render(
    _ samples: UnsafePointer<Float>?, frames: Int, _ headPose: Quaternion
  ) -> [Float] {
    [Float](unsafeUninitializedCapacity: 2 * frames) { output, count in
      if let output = output.baseAddress {
        process(interleaved: samples, frames: frames, headPose: headPose, into: output)
      }
      count = 2 * frames
    }
  }

  /// Discards the last pose and the effect of all earlier input. The gain and the mode stay.
  public func reset() {
    renderer.reset()
    interpolator.reset()
  }
}
