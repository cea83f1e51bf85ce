// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import SoundServer
import Synchronization

/// An output's stream on the server.
///
/// The stream calls libpulse and the renderer, and reports libpulse's events to `onEvent`.
///
/// ## Threading
/// Use it on the loop's thread or with the loop's lock held.
final class OutputStream: PlaybackStream, CallbackTarget {
  enum Event {
    case changed, ranDry, started, moved, suspended, drained
    /// The answer to a timing request has arrived.
    case timed
  }

  struct Place {
    var index: UInt32 = .max
    var state = Sink.State.unknown
    /// The sink's read-ahead that the buffer request takes into account [ms]; 0 if the request
    /// ignores the read-ahead.
    var configuredMilliseconds = 0.0
    /// The sink's latency, smoothed over the timing reports [ms].
    var reportedMilliseconds = 0.0
  }

  /// A sink's state `suspended` counts only if there has been no write for this time [ns].
  private static let quietOfSuspension: Int64 = 300_000_000

  let configuration: AudioOutputConfiguration
  let board = OutputBoard()
  let renderer: UnsafeMutablePointer<StreamRenderer>
  /// Keeps the render function's context alive.
  private let callback: AudioRenderCallback
  /// Receives the stream's events. Set it before `open`.
  var onEvent: (Event) -> Void = { _ in }
  private(set) var handle: OpaquePointer?
  private var timingRequest: OpaquePointer?
  var flow: OutputFlow
  var place = Place()
  var depth: QueueDepth
  private var wasOpenedPaused = false
  /// Whether this program fills the queue before the server requests sound.
  private(set) var isToppedUp = false

  /// The libpulse stream if it is open; otherwise nil.
  var running: OpaquePointer? { flow.isRunning ? handle : nil }
  var counters: UnsafeMutablePointer<OutputCounters> { board.counters }
  var framesWritten: Int64 { counters.pointee.framesWritten.load(ordering: .relaxed) }
  var lastWrite: Int64 { counters.pointee.lastWrite.load(ordering: .relaxed) }
  var isRequestDue: Bool { flow.isRequestDue }

  init(configuration: AudioOutputConfiguration, callback: AudioRenderCallback) {
    self.configuration = configuration
    self.callback = callback
    flow = OutputFlow(wantsPause: configuration.startsPaused, isFedWhileDraining: false)
    renderer = .allocate(capacity: 1)
    renderer.initialize(
      to: StreamRenderer(
        callback: callback, counters: board.counters, sampleRate: configuration.sampleRate,
        queueMilliseconds: configuration.latencyMilliseconds ?? configuration.queueRules.deepest))
    let rewriting: QueueRewriting =
      callback.rewrite == nil
      ? .unsupportedBySource : (configuration.rewriting == .never ? .switchedOff : .active)
    depth = QueueDepth(
      fixed: configuration.latencyMilliseconds, isRewritten: rewriting == .active,
      rules: configuration.latencyIsFree ? configuration.queueRules.deep : configuration.queueRules)
    board.draft.rewriting = rewriting
    board.draft.sampleRate = configuration.sampleRate
    board.draft.requestedLatencyMilliseconds = depth.milliseconds
    board.publish()
  }

  deinit {
    renderer.pointee.deallocate()
    renderer.deinitialize(count: 1)
    renderer.deallocate()
  }

  // MARK: Opening and closing

  /// Creates the libpulse stream and begins to connect it. Returns false if libpulse cannot create
  /// the stream.
  func open(in context: OpaquePointer) -> Bool {
    var format = pa_sample_spec(
      format: PA_SAMPLE_FLOAT32LE, rate: UInt32(configuration.sampleRate),
      channels: UInt8(StreamRenderer.channelCount))
    var map = pa_channel_map()
    pa_channel_map_init_stereo(&map)
    let properties = pa_proplist_new()
    defer { pa_proplist_free(properties) }
    pa_proplist_sets(properties, PA_PROP_MEDIA_ROLE, configuration.mediaRole)
    handle = pa_stream_new_with_proplist(
      context, configuration.mediaName, &format, &map, properties)
    guard let handle else { return false }
    listen(to: handle)
    renderer.pointee.beginQueue()
    // The server requests sound even for a paused stream, so hold rendering until `resume`.
    wasOpenedPaused = flow.wantsPause
    if wasOpenedPaused { renderer.pointee.isHeld = true }
    place.configuredMilliseconds = 0
    isToppedUp = isRewriting && !board.draft.isLatencyApproximate
    var attributes = attributes
    _ = pa_stream_connect_playback(handle, configuration.sinkName, &attributes, flags, nil, nil)
    return true
  }

  private var flags: pa_stream_flags_t {
    var flags =
      PA_STREAM_INTERPOLATE_TIMING.rawValue | PA_STREAM_AUTO_TIMING_UPDATE.rawValue
      | (isToppedUp ? PA_STREAM_ADJUST_LATENCY : PA_STREAM_EARLY_REQUESTS).rawValue
    if !configuration.mayMove { flags |= PA_STREAM_DONT_MOVE.rawValue }
    if flow.wantsPause { flags |= PA_STREAM_START_CORKED.rawValue }
    return pa_stream_flags_t(rawValue: flags)
  }

  func close() {
    guard let handle else { return }
    pa_stream_set_write_callback(handle, nil, nil)
    pa_stream_set_state_callback(handle, nil, nil)
    pa_stream_set_underflow_callback(handle, nil, nil)
    pa_stream_set_started_callback(handle, nil, nil)
    pa_stream_set_moved_callback(handle, nil, nil)
    pa_stream_set_suspended_callback(handle, nil, nil)
    pa_stream_set_buffer_attr_callback(handle, nil, nil)
    cancelTiming()
    pa_stream_disconnect(handle)
    pa_stream_unref(handle)
    self.handle = nil
  }

  // MARK: Requests to the server

  func cork() {
    if let running { release(pa_stream_cork(running, flow.wantsPause ? 1 : 0, nil, nil)) }
  }

  /// Pauses or resumes the stream if `flow.wantsPause` has changed since the stream was opened.
  func corkIfChanged() { if flow.wantsPause != wasOpenedPaused { cork() } }

  func flush() {
    renderer.pointee.beginQueue()
    if let running { release(pa_stream_flush(running, nil, nil)) }
  }

  func drain() {
    renderer.pointee.isHeld = true
    guard let running else { return }
    release(
      pa_stream_drain(
        running, { if $1 != 0 { OutputStream.tell(.drained, $2) } }, userdata))
  }

  /// Requests a timing report, which covers all earlier writes. Returns false if the request could
  /// not be sent.
  func askTiming() -> Bool {
    guard let handle else { return false }
    cancelTiming()
    timingRequest = pa_stream_update_timing_info(
      handle, { OutputStream.tell(.timed, $2) }, userdata)
    return timingRequest != nil
  }

  /// Ensures that no answer to an earlier timing request is reported.
  func cancelTiming() {
    if let timingRequest { pa_operation_cancel(timingRequest) }
    release(timingRequest)
    timingRequest = nil
  }

  /// Updates the sink's name and index, and resets its state to unknown.
  func readPlace() {
    guard let handle else { return }
    board.draft.sinkName = pa_stream_get_device_name(handle).map { String(cString: $0) } ?? ""
    place.index = pa_stream_get_device_index(handle)
    place.state = .unknown
  }

  /// Returns whether the sink is suspended. PipeWire reports a suspension in the sink's state, but
  /// updates that state late when playback starts.
  func isSuspended(at now: Int64) -> Bool {
    guard let handle else { return false }
    let isQuiet = now - lastWrite > Self.quietOfSuspension
    return pa_stream_is_suspended(handle) == 1
      || (!flow.wantsPause && place.state == .suspended && isQuiet)
  }

  // MARK: Events from libpulse

  private func listen(to stream: OpaquePointer) {
    pa_stream_set_write_callback(stream, streamWantsAudio, renderer)
    pa_stream_set_state_callback(stream, { OutputStream.with($1) { $0.changed() } }, userdata)
    pa_stream_set_underflow_callback(stream, { OutputStream.tell(.ranDry, $1) }, userdata)
    pa_stream_set_started_callback(stream, { OutputStream.tell(.started, $1) }, userdata)
    pa_stream_set_moved_callback(stream, { OutputStream.tell(.moved, $1) }, userdata)
    pa_stream_set_suspended_callback(stream, { OutputStream.tell(.suspended, $1) }, userdata)
    pa_stream_set_buffer_attr_callback(
      stream, { OutputStream.with($1) { $0.readBuffer() } }, userdata)
  }

  private static func tell(_ event: Event, _ userdata: UnsafeMutableRawPointer?) {
    with(userdata) { $0.onEvent(event) }
  }

  /// Handles a change of the stream's state. Reads the granted buffer as soon as the stream is
  /// ready, because the first write request needs the granted latency.
  private func changed() {
    if let handle, pa_stream_get_state(handle) == PA_STREAM_READY { readBuffer() }
    onEvent(.changed)
  }
}
