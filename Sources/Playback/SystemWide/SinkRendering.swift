// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
private import Binaural
internal import HeadTracking
internal import Rendering
internal import SoundServer
private import SoundSources
private import Surround

/// Renders live sound, such as a virtual sink's, with the treatment for the real sink's route.
///
/// ## Threading
/// Any thread may use an instance, but only the audio thread may render with `renderer` or
/// `callback`.
final class SinkRendering: Sendable {
  /// The length of a partition of the filters [frames]. PipeWire's cycles are usually multiples of
  /// this length, so the filters usually transform only complete blocks.
  private static let blockFrames = 128

  let layout: ChannelLayout
  let renderer: LiveRenderer
  /// The source of the head's poses for this rendering; nil if the head is not tracked.
  let poses: HeadPoseSource?
  private let route: RouteFollower
  private let rendering: RoutedRendering
  private let redesigner: Redesigner

  /// Designs the decoder for a layout and a route, which can take about a second.
  ///
  /// - Parameters:
  ///   - options: how to render. Settings for sources and levelling are ignored.
  ///   - isLimited: whether the true peak is limited.
  ///   - sampleRate: the sample rate of the input and of the output [Hz].
  ///   - sink: the real sink; nil if there is none yet.
  ///   - poses: a source that only this rendering reads; nil if the head is not tracked.
  /// - Throws: the reason why the decoder cannot be designed.
  init(
    layout: ChannelLayout, options: PlayerOptions, isLimited: Bool, sampleRate: Int, sink: Sink?,
    hrtf: HRTFChoice, poses: HeadPoseSource?, tell: @escaping @Sendable (PlayerEvent) -> Void
  ) throws(PlaybackError) {
    var settings = options.render
    settings.blockFrames = Self.blockFrames
    let upmix = settings.spatialization.includes(layout) ? settings.upmixSettings(for: layout) : nil
    let bed = upmix == nil ? layout : Upmixer.layout
    let policy = options.route.applying(settings)
    let programme = Programme(layout: layout)
    let facts = sink.map { RouteFacts($0) }
    let decision = policy.decision(for: programme, on: facts, mode: options.mode)
    let loudspeakers = settings.playback == .headphones ? .laptop : settings.playback
    settings.playback = decision.playback(settings, loudspeakers: loudspeakers) ?? .headphones
    let filters = try hrtf.filters(for: bed, settings: settings, sampleRate: Double(sampleRate))
    let renderer = Renderer(
      layout: bed, filters: filters, busOrder: settings.busOrder,
      blockFrames: settings.blockFrames, mode: decision.renderedMode,
      finish: isLimited ? .live : .linear)
    renderer.gain = linearGain(decibels: settings.gainDecibels)
    let head = HeadToStageSource(poses.map { .source($0) } ?? .none)
    self.layout = layout
    self.poses = poses
    self.renderer = LiveRenderer(renderer: renderer, head: head, upmix: upmix)
    self.renderer.warmUp()
    redesigner = Redesigner(renderer: renderer, layout: bed, told: hrtf.notes, tell: tell)
    rendering = RoutedRendering(
      settings: settings, decision: decision, mode: options.mode, loudspeakers: loudspeakers,
      renderer: renderer, head: head, redesigner: redesigner, refresh: {})
    route = RouteFollower(
      policy: policy, programme: programme, facts: facts, mode: options.mode, tell: tell,
      apply: rendering.apply)
    head.settle()
  }

  var callback: LiveRenderCallback {
    LiveRenderCallback(owner: renderer) { context, input, output, frames, time in
      Unmanaged<LiveRenderer>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.render(input, into: output, frames: frames, time: time)
      }
    }
  }

  var decision: RouteDecision { route.decision }

  /// How the stage relates to the head.
  var mode: StageMode {
    get { route.mode }
    set { route.mode = newValue }
  }

  func follow(_ sink: Sink) { route.follow(sink) }

  /// Cancels the design in progress. No decoder is designed afterwards.
  func stop() { redesigner.stop() }
}
