// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import SoundServer
import Synchronization

extension PulseBackend {
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
    guard stream.flow.isRunning else { return }
    let facility = event.rawValue & PA_SUBSCRIPTION_EVENT_FACILITY_MASK.rawValue
    if facility == PA_SUBSCRIPTION_EVENT_SERVER.rawValue { connection.askServer() }
    if facility == PA_SUBSCRIPTION_EVENT_SINK.rawValue, index == stream.place.index { askSink() }
    // When headphones are plugged in or unplugged, the server reports a change of the card.
    if facility == PA_SUBSCRIPTION_EVENT_CARD.rawValue { askSink() }
  }

  func take(_ server: pa_server_info) {
    let name = server.server_name.map { String(cString: $0) } ?? ""
    board.note(
      server: name, version: server.server_version.map { String(cString: $0) } ?? "")
    // PipeWire reports "@DEFAULT_SINK@" while it has no default sink.
    let defaultSink = connection.defaults.sink
    if !defaultSink.hasPrefix("@") {
      board.note(defaultSink: defaultSink, isFirst: !connection.isDescribed)
    }
    board.draft.isLatencyApproximate = name.contains("PipeWire")
    stream.renderer.pointee.clock.reportsAreEarly = board.draft.isLatencyApproximate
  }

  // MARK: The sink

  func readPlace() {
    stream.readPlace()
    askSink()
  }

  private func askSink() {
    guard let context = connection.context else { return }
    release(
      pa_context_get_sink_info_by_index(
        context, stream.place.index,
        { if let info = $1, $2 == 0 { PulseBackend.with($3) { $0.take(Sink(info.pointee)) } } },
        userdata))
  }

  private func take(_ sink: Sink) {
    guard sink.name == board.draft.sinkName else { return }
    stream.place.state = sink.state
    guard board.note(sink) else { return }
    board.post(.routed(sink))
    loop.kick()
  }
}
