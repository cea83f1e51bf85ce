// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
private import AudioMix
internal import HeadTracking
internal import Rendering
internal import SoundServer
private import Synchronization

/// Renders live sound, which has its own clock, and plays it to one sink.
///
/// ## Threading
/// Only one thread may call `write`. Any thread may use the other members.
final class LiveOutput: @unchecked Sendable {
  /// How much sound waits in the clock bridge [s].
  private static let depth = ClockBridge.Depth(initial: 0.016, longest: 0.08, excess: 0.04)
  /// With PulseAudio, the initial and smallest depth of an adaptive queue [ms].
  private static let latency = 24.0
  /// With PipeWire, the shortest cycle [ms]: 256 frames at 48 kHz. With 128 frames, a stall of the
  /// computer for 2.5 ms is audible.
  private static let cycle = 5.4
  /// The largest number of frames to read at a time.
  private static let capacity = 4096

  let sink: Sink
  private let bridge: ClockBridge
  private let preparation: LivePreparation
  private let rendering: SinkRendering
  private let samples: UnsafeMutablePointer<Float>
  private let isMuted = Atomic(false)
  private let output = Mutex<(any AudioOutput)?>(nil)

  /// Designs the decoder, which can take about a second.
  ///
  /// - Throws: the reason why the render settings or the output cannot be used.
  init(
    _ sound: LiveSound, to sink: Sink, _ client: SoundServerClient, options: PlayerOptions,
    poses: HeadPoseSource?, tell: @escaping @Sendable (PlayerEvent) -> Void
  ) throws(PlaybackError) {
    self.sink = sink
    var options = options
    options.render.upmix = .off
    let hrtf = try HRTFChoice(path: options.render.hrtfPath, interrupt: options.interrupt)
    for note in hrtf.notes { tell(.warning(note)) }
    preparation = try LivePreparation(sound, mix: options.render.mix)
    rendering = try SinkRendering(
      layout: sound.heard, options: options, isLimited: true, sampleRate: sound.sampleRate,
      sink: sink, hrtf: hrtf, poses: poses, tell: tell)
    poses?.prediction = options.prediction.pose(for: sink.name)
    // Correct prediction errors quickly, because nothing is rendered again and the queue is short.
    poses?.correctsQuickly = true
    let channels = rendering.renderer.channels
    bridge = ClockBridge(
      channelCount: channels, sampleRate: Double(sound.sampleRate), depth: Self.depth)
    samples = .allocate(capacity: Self.capacity * channels)
    samples.initialize(repeating: 0, count: Self.capacity * channels)
    do throws(SoundServerError) {
      let made = try client.output(configuration(sound, options), render: callback)
      output.withLock { $0 = made }
    } catch { throw .output(error.description) }
  }

  deinit { samples.deallocate() }

  private func configuration(
    _ sound: LiveSound, _ options: PlayerOptions
  ) -> AudioOutputConfiguration {
    var settings = AudioOutputConfiguration()
    settings.sinkName = sink.name
    settings.sampleRate = sound.sampleRate
    settings.latencyMilliseconds = options.latencyMilliseconds
    (settings.queueRules.appended, settings.queueRules.shallowest) = (Self.latency, Self.latency)
    settings.shortestCycleMilliseconds = Self.cycle
    settings.rewriting = .never
    settings.mediaName = "Listening"
    settings.mediaRole = "production"
    settings.mayMove = false
    return settings
  }

  /// The render callback. Because of it, the output keeps this object alive until `stop`.
  private var callback: AudioRenderCallback {
    AudioRenderCallback(owner: self) { context, output, frames, time in
      Unmanaged<LiveOutput>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.render(output, frames, time)
      }
    }
  }

  /// Opens the stream.
  ///
  /// - Throws: `PlaybackError.output`.
  func start() throws(PlaybackError) {
    guard let output = output.withLock({ $0 }) else { return }
    do throws(SoundServerError) { try output.start() } catch { throw .output(error.description) }
  }

  /// Ends the sound at once.
  func stop() {
    isMuted.store(true, ordering: .releasing)
    let ended = output.withLock { output in
      defer { output = nil }
      return output
    }
    ended?.stop()
    rendering.stop()
  }

  // MARK: Sound

  /// Queues `frames` frames of interleaved samples.
  func write(_ samples: UnsafePointer<Float>, frames: Int) {
    preparation.prepare(samples, frames: frames) { bridge.write($0, frameCount: $1) }
  }

  private func render(_ output: UnsafeMutablePointer<Float>, _ frames: Int, _ time: Int64) {
    let rate = Double(rendering.renderer.renderer.sampleRate)
    var done = 0
    while done < frames {
      let count = min(Self.capacity, frames - done)
      let moment = time + Int64(Double(done) / rate * 1e9)
      renderPiece(output + 2 * done, count, moment)
      done += count
    }
  }

  private func renderPiece(
    _ output: UnsafeMutablePointer<Float>, _ count: Int, _ time: Int64
  ) {
    let isSilent = isMuted.load(ordering: .acquiring)
    let read = isSilent ? 0 : bridge.read(samples, frameCount: count)
    let channels = bridge.channelCount
    (samples + read * channels).update(repeating: 0, count: (count - read) * channels)
    rendering.renderer.render(samples, into: output, frames: count, time: time)
    if isSilent { output.update(repeating: 0, count: 2 * count) }
  }

  // MARK: State

  var status: AudioOutputStatus? { output.withLock { $0?.status } }
  func takeEvents() -> [AudioOutputEvent] { output.withLock { $0?.takeEvents() ?? [] } }
  var decision: RouteDecision { rendering.decision }
  /// The number of times that the sound has paused for lack of frames.
  var pauses: Int { bridge.pauses }
  /// The delay of the clock bridge and the renderer [ms].
  var delayMilliseconds: Double {
    let renderer = rendering.renderer
    return Double(renderer.delayFrames) / Double(renderer.renderer.sampleRate) * 1000
      + bridge.targetSeconds * 1000
  }

  var mode: StageMode {
    get { rendering.mode }
    set { rendering.mode = newValue }
  }

  var mix: MixStatus? {
    get { preparation.mix.map { MixStatus(style: $0.style, amount: $0.amount) } }
    set { preparation.mix = newValue.map { ($0.style, $0.amount) } }
  }
}
