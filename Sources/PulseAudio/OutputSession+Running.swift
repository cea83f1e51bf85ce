// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import Synchronization

extension OutputSession {
  func attendRunning(_ now: Int64) {
    guard let context, isGood(context) else {
      return lose(.server, reason: lastError(of: context))
    }
    guard let stream, isGood(stream: stream) else {
      return lose(.sink, reason: lastError(of: context))
    }
    readLatency()
    noteSuspension(now)
    feedIfDue(stream)
    attendQueue(stream, now)
    let finding = watchdog.check(
      now: now, lastRequest: board.counters.pointee.lastWrite.load(ordering: .relaxed),
      isRequestDue: isRequestDue, queueDuration: renderer.pointee.grantedLatency)
    switch finding {
    case .ask: askServer()
    case .frozen: board.post(.serverFrozen)
    case .thawed: board.post(.serverThawed)
    case nil: break
    }
  }

  /// PulseAudio tells a suspension to the stream; PipeWire only shows it in the sink's state, which
  /// also lags behind at the start.
  private func noteSuspension(_ now: Int64) {
    guard let stream else { return }
    let quiet = now - board.counters.pointee.lastWrite.load(ordering: .relaxed)
    let sinkIsStill = !wantsPause && sinkState == .suspended && quiet > Self.quietOfSuspension
    let suspended = pa_stream_is_suspended(stream) == 1 || sinkIsStill
    guard suspended != isSuspended else { return }
    isSuspended = suspended
    board.post(suspended ? .suspended : .unsuspended)
    renderer.pointee.clock.relock()
    noteBeginning()
  }

  private func feedIfDue(_ stream: OpaquePointer) {
    guard isFeedDue else { return }
    isFeedDue = false
    let room = pa_stream_writable_size(stream)
    if room > 0 { renderer.pointee.fill(stream, byteCount: room) }
  }

  func showState() {
    let state: AudioOutputState =
      switch phase {
      case .idle: .idle
      case .failed: .failed
      case .stopped: .stopped
      case .connecting, .listing, .opening, .waiting:
        hasPlayed ? (loss == .sink ? .sinkLost : .serverLost) : .connecting
      case .running: runningState
      }
    board.counters.pointee.state.store(state.rawValue, ordering: .releasing)
  }

  private var runningState: AudioOutputState {
    if watchdog.frozenSince != nil { return .serverFrozen }
    if isDrained { return .drained }
    if wantsPause { return .paused }
    return isSuspended ? .suspended : .playing
  }

  // MARK: What the server tells

  /// The description of the server, which is also the sign of life that the watchdog waits for.
  func askServer() {
    guard let context else { return }
    release(pa_context_get_server_info(context, sessionServerArrives, userdata))
  }

  func take(_ server: pa_server_info) {
    watchdog.answered(now: monotonic_nanoseconds())
    let name = server.server_name.map { String(cString: $0) } ?? ""
    let defaultSink = server.default_sink_name.map { String(cString: $0) } ?? ""
    board.draft.serverName = name
    board.draft.serverVersion = server.server_version.map { String(cString: $0) } ?? ""
    noteDefaultSink(defaultSink)
    board.draft.isLatencyApproximate = name.contains("PipeWire")
    renderer.pointee.clock.reportsAreEarly = board.draft.isLatencyApproximate
    if !isServerDescribed { loop.kick() }
    isServerDescribed = true
  }

  /// PipeWire says "@DEFAULT_SINK@" while it has none.
  private func noteDefaultSink(_ name: String) {
    guard !name.hasPrefix("@"), name != board.draft.defaultSinkName else { return }
    if hasPlayed, isServerDescribed { board.post(.defaultSinkChanged(sink: name)) }
    board.draft.defaultSinkName = name
  }

  func take(_ sink: Sink) {
    guard sink.name == board.draft.sinkName else { return }
    board.draft.sinkDescription = sink.description
    board.draft.sinkSampleRate = sink.sampleRate
    sinkState = sink.state
  }

  func objectChanged(_ event: pa_subscription_event_type_t, index: UInt32) {
    guard phase == .running else { return }
    let facility = event.rawValue & PA_SUBSCRIPTION_EVENT_FACILITY_MASK.rawValue
    if facility == PA_SUBSCRIPTION_EVENT_SERVER.rawValue { askServer() }
    if facility == PA_SUBSCRIPTION_EVENT_SINK.rawValue, index == sinkIndex { askSink() }
  }

  func askSink() {
    guard let context else { return }
    release(pa_context_get_sink_info_by_index(context, sinkIndex, sessionSinkArrives, userdata))
  }
}

// libpulse's callbacks are functions, not closures: see `streamWantsAudio`.

func session(_ userdata: UnsafeMutableRawPointer?) -> OutputSession? {
  userdata.map { Unmanaged<OutputSession>.fromOpaque($0).takeUnretainedValue() }
}

func sessionContextChanges(_ context: OpaquePointer?, _ userdata: UnsafeMutableRawPointer?) {
  session(userdata)?.loop.kick()
}

func sessionObjectChanges(
  _ context: OpaquePointer?, _ event: pa_subscription_event_type_t, _ index: UInt32,
  _ userdata: UnsafeMutableRawPointer?
) {
  session(userdata)?.objectChanged(event, index: index)
}

private func sessionServerArrives(
  _ context: OpaquePointer?, _ info: UnsafePointer<pa_server_info>?,
  _ userdata: UnsafeMutableRawPointer?
) {
  if let info { session(userdata)?.take(info.pointee) }
}

private func sessionSinkArrives(
  _ context: OpaquePointer?, _ info: UnsafePointer<pa_sink_info>?, _ end: Int32,
  _ userdata: UnsafeMutableRawPointer?
) {
  if let info, end == 0 { session(userdata)?.take(Sink(info.pointee)) }
}
