// SPDX-License-Identifier: Apache-2.0

internal import Ambisonics
import CPipeWire
import CRealtime
import Glibc
internal import SoundServer
import Synchronization

/// The two streams of a virtual sink: the sink itself, and the stream that plays the rendered
/// sound.
///
/// The graph runs both in the same cycle.
///
/// ## Threading
/// Use an instance on the loop's thread or with the loop's lock held.
final class LiveStream: OutputStream {
  /// The link group of all virtual sinks, which prevents links between virtual sinks.
  static let linkGroup = "stillstage"
  /// How long the streams stay active after the last program was unlinked from the sink [ns].
  private static let idleTime: Int64 = 5_000_000_000

  let name: String
  private let title: String
  private let layout: ChannelLayout
  let feed: UnsafeMutablePointer<SinkFeed>
  /// Keeps the render function's context alive.
  private let live: LiveRenderCallback
  /// The delay of the render callback [frames].
  private var delayFrames: Int
  private(set) var sink: OpaquePointer?
  private var sinkState = PW_STREAM_STATE_UNCONNECTED
  private var sinkListener: Listener<pw_stream_events>?
  /// Whether the graph may run the streams: a program is linked to the sink, or has been within
  /// the last `idleTime`.
  private var isActive = false
  /// The last time at which a program was linked to the sink, in CLOCK_MONOTONIC nanoseconds.
  private var lastUse: Int64 = 0
  /// The latency that the nodes after the playback stream report.
  private var downstream = latency(SPA_DIRECTION_INPUT)
  /// The latency that the nodes before the sink report.
  private var upstream = latency(SPA_DIRECTION_OUTPUT)

  init(
    library: PipeWireLibrary, configuration: VirtualSinkConfiguration, live: LiveRenderCallback
  ) {
    (name, title, layout) = (configuration.name, configuration.title, configuration.layout)
    (self.live, delayFrames) = (live, configuration.delayFrames)
    let feed = UnsafeMutablePointer<SinkFeed>.allocate(capacity: 1)
    self.feed = feed
    let callback = AudioRenderCallback(context: UnsafeMutableRawPointer(feed)) {
      $0.assumingMemoryBound(to: SinkFeed.self).pointee.render($1, $2, $3)
    }
    super.init(library: library, configuration: configuration.output, callback: callback)
    feed.initialize(
      to: SinkFeed(
        library: library, callback: live, channels: layout.channelCount,
        sampleRate: configuration.output.sampleRate, pump: control))
  }

  deinit {
    close()
    feed.pointee.deallocate()
    feed.deinitialize(count: 1)
    feed.deallocate()
  }

  private static func latency(_ direction: spa_direction) -> spa_latency_info {
    var latency = spa_latency_info()
    latency.direction = direction
    return latency
  }

  // MARK: The playback stream

  override var extraFlags: UInt32 {
    PW_STREAM_FLAG_TRIGGER.rawValue | PW_STREAM_FLAG_INACTIVE.rawValue
  }

  // The session manager stores a stream's volume and target under the first of media.role,
  // application.id and application.name that is set. The ID separates this stream's entries from
  // those of other streams.
  override func properties() -> OpaquePointer? {
    library.properties([
      PW_KEY_MEDIA_TYPE: "Audio", PW_KEY_MEDIA_CATEGORY: "Playback",
      PW_KEY_MEDIA_NAME: title, PW_KEY_APP_ID: name + "-output",
      PW_KEY_APP_NAME: configuration.applicationName, PW_KEY_NODE_NAME: name + "-output",
      PW_KEY_NODE_DESCRIPTION: title, PW_KEY_TARGET_OBJECT: configuration.sinkName,
      PW_KEY_NODE_GROUP: name, PW_KEY_NODE_LINK_GROUP: Self.linkGroup,
      PW_KEY_NODE_VIRTUAL: "true", PW_KEY_NODE_PASSIVE: "true", "resample.prefill": "true",
      PW_KEY_NODE_RATE: "1/\(configuration.sampleRate)",
    ])
  }

  // Both streams may be paused until a program is linked to the sink.
  override var isReady: Bool {
    func isOpen(_ state: pw_stream_state) -> Bool {
      state == PW_STREAM_STATE_PAUSED || state == PW_STREAM_STATE_STREAMING
    }
    return isOpen(state) && isOpen(sinkState)
  }

  // The graph runs even active streams only while programs play to this sink or to the real sink.
  override var isRequestDue: Bool {
    super.isRequestDue && state == PW_STREAM_STATE_STREAMING
      && sinkState == PW_STREAM_STATE_STREAMING
  }

  // PipeWire 0.3.65 stops a triggered stream forever when its properties change, so the sink, and
  // not the triggered playback stream, requests the length of a cycle.
  override var requester: OpaquePointer? { sink }

  override func open(on core: OpaquePointer) -> Bool {
    feed.pointee.control.pointee.isMuted.store(false, ordering: .relaxed)
    (isActive, lastUse) = (false, .min / 2)
    // The playback stream comes first, because the sink triggers it.
    guard super.open(on: core), let handle else { return false }
    guard openSink(on: core, playback: handle) else { return false }
    pump.pointee.trigger = sink
    downstream = Self.latency(SPA_DIRECTION_INPUT)
    upstream = Self.latency(SPA_DIRECTION_OUTPUT)
    reportLatency()
    return true
  }

  override func reactivate() {
    guard let sink, !flow.wantsPause, isActive else { return }
    _ = pw.pointee.pw_stream_set_active(sink, false)
    super.reactivate()
    _ = pw.pointee.pw_stream_set_active(sink, true)
  }

  /// Activates the streams when a program is linked to the sink, and deactivates them `idleTime`
  /// after the last program was unlinked. The graph would otherwise run the streams whenever the
  /// real sink runs. Returns whether the streams have just become active.
  func followPrograms(in graph: Graph, now: Int64) -> Bool {
    guard let sink, let handle else { return false }
    if graph.isLinked(to: pw.pointee.pw_stream_get_node_id(sink)) { lastUse = now }
    let isUsed = now - lastUse < Self.idleTime
    guard isUsed != isActive else { return false }
    isActive = isUsed
    // The sink triggers the playback stream, which must therefore be the first to become active.
    for stream in isUsed ? [handle, sink] : [sink, handle] {
      _ = pw.pointee.pw_stream_set_active(stream, isUsed)
    }
    return isUsed
  }

  override func close() {
    // Neither stream may run while one of them is being destroyed.
    if let sink { _ = pw.pointee.pw_stream_set_active(sink, false) }
    if let handle { _ = pw.pointee.pw_stream_set_active(handle, false) }
    if let sink {
      sinkListener?.remove()
      pw.pointee.pw_stream_destroy(sink)
    }
    (sink, sinkListener, sinkState) = (nil, nil, PW_STREAM_STATE_UNCONNECTED)
    super.close()
    pump.pointee.trigger = nil
  }

  // MARK: The sink

  private func openSink(on core: OpaquePointer, playback: OpaquePointer) -> Bool {
    let rate = configuration.sampleRate
    let properties = library.properties([
      PW_KEY_MEDIA_CLASS: "Audio/Sink", PW_KEY_MEDIA_NAME: title, PW_KEY_APP_ID: name,
      PW_KEY_NODE_NAME: name, PW_KEY_NODE_DESCRIPTION: title,
      "audio.position": layout.pipeWireNames, PW_KEY_NODE_GROUP: name,
      PW_KEY_NODE_LINK_GROUP: Self.linkGroup, PW_KEY_NODE_VIRTUAL: "true",
      "resample.prefill": "true", PW_KEY_NODE_LATENCY: latency, PW_KEY_NODE_RATE: "1/\(rate)",
    ])
    guard let positions = layout.pipeWirePositions, positions.count == layout.channelCount,
      let made = pw.pointee.pw_stream_new(core, title, properties.raw())
    else { return fail("cannot create a stream") }
    sink = made
    feed.pointee.begin(sink: made, playback: playback)
    listenToSink(made)
    let flags = Self.commonFlags | PW_STREAM_FLAG_INACTIVE.rawValue
    var memory = [UInt8](repeating: 0, count: 2048)
    let result = memory.withUnsafeMutableBufferPointer { memory -> Int32 in
      var format = pipewire_interleaved(
        memory.baseAddress, UInt32(memory.count), UInt32(rate), positions, UInt32(positions.count))
      return pw.pointee.pw_stream_connect(
        made, SPA_DIRECTION_INPUT, UInt32.max, pw_stream_flags(flags), &format, 1)
    }
    return result >= 0 || fail(String(cString: strerror(-result)))
  }

  private func listenToSink(_ stream: OpaquePointer) {
    var events = pw_stream_events()
    events.version = UInt32(PW_VERSION_STREAM_EVENTS)
    events.state_changed = { this, _, state, text in
      LiveStream.with(this) { $0.sinkChanged(to: state, text.map { String(cString: $0) }) }
    }
    events.param_changed = { this, parameter, pod in
      LiveStream.with(this) { $0.takeOfSink(parameter, pod) }
    }
    events.process = processSink
    let listener = Listener(events)
    sinkListener = listener
    pw.pointee.pw_stream_add_listener(stream, listener.hook, listener.events, userdata)
  }

  private func sinkChanged(to state: pw_stream_state, _ text: String?) {
    sinkState = state
    note(state, text)
    // Without a flush, the streams would play old sound when they run again.
    if state == PW_STREAM_STATE_PAUSED, let sink, let handle {
      _ = pw.pointee.pw_stream_flush(handle, false)
      _ = pw.pointee.pw_stream_flush(sink, false)
    }
    onChange()
  }

  // MARK: Latency

  func setDelay(frames: Int) {
    guard frames != delayFrames else { return }
    delayFrames = frames
    reportLatency()
  }

  override func take(_ parameter: UInt32, _ pod: UnsafePointer<spa_pod>?) {
    takeLatency(parameter, pod)
  }

  private func takeOfSink(_ parameter: UInt32, _ pod: UnsafePointer<spa_pod>?) {
    takeLatency(parameter, pod)
  }

  /// Stores and reports the latency of the nodes that a stream is linked to.
  private func takeLatency(_ parameter: UInt32, _ pod: UnsafePointer<spa_pod>?) {
    var latency = spa_latency_info()
    guard parameter == SPA_PARAM_Latency.rawValue, pipewire_read_latency(pod, &latency) else {
      return
    }
    if latency.direction == SPA_DIRECTION_INPUT {
      downstream = latency
    } else {
      upstream = latency
    }
    reportLatency()
  }

  /// Reports the downstream latency at the sink and the upstream latency at the playback stream,
  /// each increased by the delay of the render callback.
  private func reportLatency() {
    guard let sink, let handle else { return }
    let delay = Int64(delayFrames) * 1_000_000_000 / Int64(configuration.sampleRate)
    pipewire_report_latency(library.functions, sink, downstream, delay)
    pipewire_report_latency(library.functions, handle, upstream, delay)
  }
}

/// Processes one cycle on the data thread.
private func processSink(_ this: UnsafeMutableRawPointer?) {
  LiveStream.with(this) { SinkFeed.run($0.feed) }
}
