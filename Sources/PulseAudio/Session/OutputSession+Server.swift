// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import SoundServer
import Synchronization

/// Events and descriptions from the server.
extension OutputSession {
  func take(_ event: OutputStream.Event) {
    switch event {
    case .changed, .suspended: loop.kick()
    case .ranDry: queue.ranDry()
    case .started:
      queue.started()
      loop.kick()
    case .moved: streamMoved()
    case .drained: streamDrained()
    case .timed: queue.timingArrived()
    }
  }

  private func streamMoved() {
    stream.forgetConfiguredSink()
    readPlace()
    stream.readBuffer()
    queue.startRewriting()
    stream.renderer.pointee.clock.relock()
    noteBeginning()
    board.post(.moved(sink: board.draft.sinkName))
  }

  private func streamDrained() {
    guard stream.flow.isDraining else { return }
    stream.flow.isDraining = false
    stream.flow.isDrained = true
    board.post(.drained)
    loop.kick()
  }

  func objectChanged(_ event: pa_subscription_event_type_t, _ index: UInt32) {
    guard phase == .running else { return }
    let facility = event.rawValue & PA_SUBSCRIPTION_EVENT_FACILITY_MASK.rawValue
    if facility == PA_SUBSCRIPTION_EVENT_SERVER.rawValue { askServer() }
    if facility == PA_SUBSCRIPTION_EVENT_SINK.rawValue, index == stream.place.index { askSink() }
    // When a device is plugged in or unplugged, the server reports a change of the card.
    if facility == PA_SUBSCRIPTION_EVENT_CARD.rawValue { askSink() }
  }

  // MARK: The server

  /// Requests the server's description. The answer is also the sign of life that the watchdog waits
  /// for.
  func askServer() {
    guard let context else { return }
    release(
      pa_context_get_server_info(
        context, { if let info = $1 { OutputSession.with($2) { $0.take(info.pointee) } } }, userdata
      ))
  }

  private func take(_ server: pa_server_info) {
    watchdog.answered(now: monotonic_nanoseconds())
    let name = server.server_name.map { String(cString: $0) } ?? ""
    let defaultSink = server.default_sink_name.map { String(cString: $0) } ?? ""
    board.draft.serverName = name
    board.draft.serverVersion = server.server_version.map { String(cString: $0) } ?? ""
    noteDefaultSink(defaultSink)
    board.draft.isLatencyApproximate = name.contains("PipeWire")
    stream.renderer.pointee.clock.reportsAreEarly = board.draft.isLatencyApproximate
    if !attempts.isServerDescribed { loop.kick() }
    attempts.isServerDescribed = true
  }

  /// Notes the default sink. Names that begin with "@" are ignored: PipeWire reports
  /// "@DEFAULT_SINK@" while it has no default sink.
  private func noteDefaultSink(_ name: String) {
    guard !name.hasPrefix("@"), name != board.draft.defaultSinkName else { return }
    if attempts.hasPlayed, attempts.isServerDescribed {
      board.post(.defaultSinkChanged(sink: name))
    }
    board.draft.defaultSinkName = name
  }

  // MARK: The sink

  func readPlace() {
    stream.readPlace()
    askSink()
  }

  private func askSink() {
    guard let context else { return }
    release(
      pa_context_get_sink_info_by_index(
        context, stream.place.index,
        { if let info = $1, $2 == 0 { OutputSession.with($3) { $0.take(Sink(info.pointee)) } } },
        userdata))
  }

  private func take(_ sink: Sink) {
    guard sink.name == board.draft.sinkName else { return }
    board.draft.sinkDescription = sink.description
    board.draft.sinkSampleRate = sink.sampleRate
    stream.place.state = sink.state
    let isNews = !sink.leadsWhere(board.draft.sink)
    board.draft.sink = sink
    guard isNews else { return }
    board.post(.routed(sink))
    loop.kick()
  }
}
