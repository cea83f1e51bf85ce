// SPDX-License-Identifier: Apache-2.0

import CPipeWire
import CRealtime
import Glibc
internal import SoundServer
import Synchronization

/// An output's stream on the server.
///
/// ## Threading
/// Use an instance on the loop's thread or with the loop's lock held.
class OutputStream: PlaybackStream, CallbackTarget {
  var configuration: AudioOutputConfiguration
  let board = OutputBoard()
  let control: UnsafeMutablePointer<PumpControl>
  let pump: UnsafeMutablePointer<StreamPump>
  let library: PipeWireLibrary
  /// Keeps the render function's context alive.
  private let callback: AudioRenderCallback
  /// Called when the stream's state changes. Set it before `open`.
  var onChange: () -> Void = {}
  var flow: OutputFlow
  var depth: QueueDepth
  private(set) var handle: OpaquePointer?
  private(set) var state = PW_STREAM_STATE_UNCONNECTED
  /// The reason for the stream's failure; nil if the stream has not failed.
  private(set) var failure: String?
  /// The time of the last call of `open`, in CLOCK_MONOTONIC nanoseconds.
  private var openTime: Int64 = 0
  private var listener: Listener<pw_stream_events>?

  var pw: UnsafePointer<pipewire_library> { library.functions }
  var counters: UnsafeMutablePointer<OutputCounters> { board.counters }
  /// Whether the server has supplied a buffer since the stream was last opened.
  var hasRun: Bool { lastWrite > openTime }
  var lastWrite: Int64 { counters.pointee.lastWrite.load(ordering: .relaxed) }

  init(
    library: PipeWireLibrary, configuration: AudioOutputConfiguration,
    callback: AudioRenderCallback
  ) {
    (self.library, self.configuration, self.callback) = (library, configuration, callback)
    flow = OutputFlow(wantsPause: configuration.startsPaused, isFedWhileDraining: true)
    control = .allocate(capacity: 1)
    control.initialize(to: PumpControl())
    pump = .allocate(capacity: 1)
    pump.initialize(
      to: StreamPump(
        library: library, callback: callback, counters: board.counters, control: control,
        sampleRate: configuration.sampleRate))
    let fixed =
      configuration.latencyMilliseconds
      ?? (configuration.latencyIsFree ? Quantum.relaxedMilliseconds : nil)
    depth = QueueDepth(fixed: fixed, isRewritten: false, rules: Quantum.rules(configuration))
    board.draft.rewriting = .unsupportedBySource
    board.draft.sampleRate = configuration.sampleRate
    board.draft.requestedLatencyMilliseconds = depth.milliseconds
    board.publish()
  }

  deinit {
    close()
    pump.deinitialize(count: 1)
    pump.deallocate()
    control.deinitialize(count: 1)
    control.deallocate()
  }

  // MARK: Opening and closing

  /// Creates the stream and begins to connect it. Returns false and sets `failure` on an error.
  func open(on core: OpaquePointer) -> Bool {
    close()
    openTime = monotonic_nanoseconds()
    let rate = configuration.sampleRate
    let properties = properties()
    let made = pw.pointee.pw_stream_new(core, configuration.mediaName, properties.raw())
    guard let made else { return fail("cannot create a stream") }
    handle = made
    pump.pointee.begin(made)
    listen(to: made)
    var flags = Self.commonFlags | extraFlags
    if flow.wantsPause { flags |= PW_STREAM_FLAG_INACTIVE.rawValue }
    var memory = [UInt8](repeating: 0, count: 1024)
    let result = memory.withUnsafeMutableBufferPointer { memory -> Int32 in
      var format = pipewire_stereo(memory.baseAddress, UInt32(memory.count), UInt32(rate))
      return pw.pointee.pw_stream_connect(
        made, SPA_DIRECTION_OUTPUT, UInt32.max, pw_stream_flags(flags), &format, 1)
    }
    return result >= 0 || fail(String(cString: strerror(-result)))
  }

  static var commonFlags: UInt32 {
    PW_STREAM_FLAG_AUTOCONNECT.rawValue | PW_STREAM_FLAG_MAP_BUFFERS.rawValue
      | PW_STREAM_FLAG_RT_PROCESS.rawValue
  }

  var extraFlags: UInt32 { 0 }

  func properties() -> OpaquePointer? {
    library.properties([
      PW_KEY_MEDIA_TYPE: "Audio", PW_KEY_MEDIA_CATEGORY: "Playback",
      PW_KEY_MEDIA_ROLE: Self.role(configuration.mediaRole),
      PW_KEY_MEDIA_NAME: configuration.mediaName, PW_KEY_NODE_NAME: configuration.applicationName,
      PW_KEY_APP_NAME: configuration.applicationName, PW_KEY_TARGET_OBJECT: configuration.sinkName,
      PW_KEY_NODE_LATENCY: latency, PW_KEY_NODE_RATE: "1/\(configuration.sampleRate)",
      "node.dont-reconnect": configuration.mayMove ? nil : "true",
    ])
  }

  func fail(_ reason: String) -> Bool {
    failure = reason
    return false
  }

  /// Returns the role in PipeWire's spelling: "Music" for "music".
  private static func role(_ role: String) -> String {
    role.prefix(1).uppercased() + role.dropFirst()
  }

  /// Whether the stream is playing or is to be paused.
  var isReady: Bool {
    flow.wantsPause || (state == PW_STREAM_STATE_STREAMING && hasRun)
  }

  var isRequestDue: Bool { flow.isRequestDue }

  /// The stream whose `node.latency` requests the length of a cycle.
  var requester: OpaquePointer? { handle }

  func take(_ parameter: UInt32, _ pod: UnsafePointer<spa_pod>?) {}

  func close() {
    // If the old failure remained, the next attempt would report it as its own.
    defer { failure = nil }
    guard let handle else { return }
    listener?.remove()
    pw.pointee.pw_stream_destroy(handle)
    listener = nil
    self.handle = nil
    state = PW_STREAM_STATE_UNCONNECTED
  }

  private func listen(to stream: OpaquePointer) {
    var events = pw_stream_events()
    events.version = UInt32(PW_VERSION_STREAM_EVENTS)
    events.state_changed = { this, _, state, text in
      OutputStream.with(this) { $0.changed(to: state, text.map { String(cString: $0) }) }
    }
    events.param_changed = { this, parameter, pod in
      OutputStream.with(this) { $0.take(parameter, pod) }
    }
    events.process = processStream
    let listener = Listener(events)
    self.listener = listener
    pw.pointee.pw_stream_add_listener(stream, listener.hook, listener.events, userdata)
  }

  private func changed(to state: pw_stream_state, _ text: String?) {
    self.state = state
    note(state, text)
    onChange()
  }

  /// Notes the failure of a stream or the removal of its node.
  func note(_ state: pw_stream_state, _ text: String?) {
    if state == PW_STREAM_STATE_ERROR { failure = text ?? "the stream failed" }
    if state == PW_STREAM_STATE_UNCONNECTED { failure = text ?? "the server removed the stream" }
  }

  /// The ID of the stream's node on the server; nil while it has none.
  var nodeID: UInt32? {
    guard let handle else { return nil }
    let id = pw.pointee.pw_stream_get_node_id(handle)
    return id == UInt32.max ? nil : id
  }

  // MARK: Requests to the server

  func setActive(_ isActive: Bool) {
    if let handle { _ = pw.pointee.pw_stream_set_active(handle, isActive) }
  }

  /// Stops and restarts the stream unless it is to be paused. PipeWire 0.3.65 leaves the stream's
  /// link inactive if the sink was suspended during playback.
  func reactivate() {
    guard !flow.wantsPause else { return }
    setActive(false)
    setActive(true)
  }

  /// Runs `change` while the render callback cannot run.
  func withoutRendering(_ change: () -> Void) {
    control.pointee.isBlocked.store(true, ordering: .sequentiallyConsistent)
    while handle != nil, control.pointee.isRendering.load(ordering: .sequentiallyConsistent) {
      usleep(50)
    }
    change()
    control.pointee.isBlocked.store(false, ordering: .releasing)
  }

  // MARK: The quantum

  var latency: String {
    Quantum.request(milliseconds: depth.milliseconds, rate: configuration.sampleRate)
  }

  /// Applies `change` to the depth. If `change` returns true, posts `queueChanged` and requests the
  /// new quantum.
  func adaptDepth(_ change: (inout QueueDepth) -> Bool) {
    guard change(&depth) else { return }
    board.draft.requestedLatencyMilliseconds = depth.milliseconds
    board.post(.queueChanged(milliseconds: depth.milliseconds, rewriting: board.draft.rewriting))
    guard let requester, let key = strdup(PW_KEY_NODE_LATENCY), let value = strdup(latency) else {
      return
    }
    defer {
      free(key)
      free(value)
    }
    var item = spa_dict_item(key: key, value: value)
    withUnsafePointer(to: &item) { item in
      var properties = spa_dict(flags: 0, n_items: 1, items: item)
      _ = pw.pointee.pw_stream_update_properties(requester, &properties)
    }
  }
}

/// Fills a buffer on the data thread.
private func processStream(_ this: UnsafeMutableRawPointer?) {
  OutputStream.with(this) { $0.pump.pointee.run() }
}
