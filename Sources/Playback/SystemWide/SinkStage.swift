// SPDX-License-Identifier: Apache-2.0

private import CRealtime
private import Geometry
package import HeadTracking
private import Media
package import Rendering
package import SoundServer
private import Synchronization

/// The renderers of a server's virtual sinks, and the head that they follow.
///
/// ## Threading
/// Any thread except the audio threads may use an instance.
package final class SinkStage: LiveStage {
  private struct State {
    var mode: StageMode
    /// The current real sink; nil before there is one.
    var sink: Sink?
    var isStopped = false
  }

  private let options: PlayerOptions
  private let played: PlayedHead
  private let renderings: [SinkLayout: SinkRendering]
  private let sampleRate: Int
  private let events: EventQueue
  private let describe: @Sendable (PlayerEvent) -> String?
  private let atEnd: @Sendable (_ front: (tracker: String, yaw: Double)?) -> Void
  private let state: Mutex<State>

  /// Designs the decoders of all layouts and starts the tracker.
  ///
  /// - Parameters:
  ///   - layouts: the layouts of the virtual sinks.
  ///   - options: how to render, and which tracker to follow. Settings for sources, levelling and
  ///     rewriting are ignored.
  ///   - isLimited: whether the true peak of each virtual sink is limited.
  ///   - sink: the real sink; nil if there is none yet.
  ///   - describe: returns a sentence that tells the listener about an event, without a full stop;
  ///     nil if the listener need not know.
  ///   - atEnd: called when the stage stops, with the front as in `Player.front`.
  /// - Throws: the reason why the HRTF set cannot be read, or why a decoder cannot be designed.
  package init(
    layouts: [SinkLayout], options: PlayerOptions, isLimited: Bool, sink: Sink?,
    describe: @escaping @Sendable (PlayerEvent) -> String?,
    atEnd: @escaping @Sendable (_ front: (tracker: String, yaw: Double)?) -> Void
  ) throws(PlaybackError) {
    let events = EventQueue()
    let played = PlayedHead(options, events)
    let hrtf = try HRTFChoice(path: options.render.hrtfPath, interrupt: options.interrupt)
    for note in hrtf.notes { events.add(.warning(note)) }
    let rate = sink?.sampleRate ?? 0
    sampleRate = AudioTrack.sampleRates.contains(rate) ? rate : 48000
    var renderings: [SinkLayout: SinkRendering] = [:]
    for layout in layouts {
      // All virtual sinks have the same route and decoder settings, so only one of them reports.
      let isTold = layout == layouts.last
      renderings[layout] = try SinkRendering(
        layout: layout.layout, options: options, isLimited: isLimited, sampleRate: sampleRate,
        sink: sink, hrtf: hrtf, poses: played.poses?.branch()
      ) { event in
        if isTold { events.add(event) }
      }
    }
    (self.options, self.played, self.events) = (options, played, events)
    (self.renderings, self.describe, self.atEnd) = (renderings, describe, atEnd)
    state = Mutex(State(mode: options.mode, sink: sink))
    predict(for: sink?.name ?? "")
    played.start()
  }

  deinit { stop() }

  // MARK: Virtual sinks

  /// Returns the settings of a virtual sink that plays to a real sink.
  package func configuration(of layout: SinkLayout, for sink: Sink) -> VirtualSinkConfiguration {
    var output = AudioOutputConfiguration()
    output.sinkName = sink.name
    output.sampleRate = sampleRate
    output.latencyMilliseconds = options.latencyMilliseconds
    output.serverAddress = options.serverAddress
    output.rewriting = .never
    output.mediaName = layout.title
    var configuration = VirtualSinkConfiguration(
      name: layout.sinkName, title: layout.title, layout: layout.layout, output: output)
    configuration.delayFrames = renderings[layout]?.renderer.delayFrames ?? 0
    return configuration
  }

  /// Returns the function that renders a virtual sink's sound. The stage must have a renderer for
  /// `layout`.
  package func callback(of layout: SinkLayout) -> LiveRenderCallback {
    guard let rendering = renderings[layout] else { preconditionFailure("no such virtual sink") }
    return rendering.callback
  }

  /// Returns the source of the head's poses for a virtual sink; nil if the head is not tracked or
  /// the stage has no renderer for `layout`.
  package func poses(of layout: SinkLayout) -> HeadPoseSource? { renderings[layout]?.poses }

  package func delay(of layout: SinkLayout) -> RendererDelay? {
    guard let renderer = renderings[layout]?.renderer else { return nil }
    let milliseconds = 1000 / Double(sampleRate)
    return RendererDelay(
      limiter: Double(renderer.renderer.latencyFrames) * milliseconds,
      filters: Double(renderer.filterFrames) * milliseconds,
      upmix: Double(renderer.upmixFrames) * milliseconds)
  }

  // MARK: The stage

  package var mode: StageMode {
    get { state.withLock { $0.mode } }
    set {
      state.withLock { $0.mode = newValue }
      for rendering in renderings.values { rendering.mode = newValue }
      events.add(.modeChanged(newValue))
    }
  }

  package func recentre() { played.poses?.recenter() }

  package func follow(_ sink: Sink) {
    let isNew = state.withLock { state in
      defer { state.sink = sink }
      return !sink.leadsWhere(state.sink)
    }
    guard isNew else { return }
    predict(for: sink.name)
    for rendering in renderings.values { rendering.follow(sink) }
  }

  private func predict(for sink: String) {
    for rendering in renderings.values {
      rendering.poses?.prediction = options.prediction.pose(for: sink)
      // Correct prediction errors quickly, because nothing is rendered again and the queue is
      // short.
      rendering.poses?.correctsQuickly = true
    }
  }

  package var head: LiveHead {
    var live = LiveHead()
    live.tracker = played.connected?.name
    guard let poses = played.poses else { return live }
    // The lock suffices: no audio thread reads this source, because the renderers read branches.
    state.withLock { _ in live.pose = poses.pose(at: monotonic_nanoseconds()) }
    let status = poses.status
    if status.freshness == .waiting { live.pose = nil }
    if case .source = options.head, live.pose != nil { live.tracker = "network tracker" }
    live.isFresh = status.freshness == .fresh
    live.rate = status.rate
    return live
  }

  package func takeNotes() -> [String] { events.take().compactMap(describe) }

  package func stop() {
    let isFirst = state.withLock { state in
      defer { state.isStopped = true }
      return !state.isStopped
    }
    guard isFirst else { return }
    for rendering in renderings.values { rendering.stop() }
    atEnd(played.front)
    played.stop()
  }
}
