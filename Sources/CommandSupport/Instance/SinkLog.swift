// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import CRealtime
package import Playback
import SoundServer
import Synchronization

/// The changes that `sink` reports, as sentences without a full stop.
///
/// A stream's sink is reported only when 0.3 s have passed since the stream's last move, because a
/// new stream is usually moved immediately.
package final class SinkLog: Sendable {
  private struct State {
    var texts: [String] = []
    var places: [UInt64: (text: String, time: Int64)] = [:]
    var started: Set<SinkLayout> = []
  }

  private static let settlingTime: Int64 = 300_000_000
  private let state = Mutex(State())

  package init() {}

  package func add(_ event: SystemWideEvent) { add(event, now: monotonic_nanoseconds()) }

  /// Adds an event that happened at `now` [ns].
  package func add(_ event: SystemWideEvent, now: Int64) {
    state.withLock { state in
      switch event {
      case .routed(let stream, let layout):
        state.places[stream.id] = (Self.text(stream, layout), now)
      case .ended(let stream): state.places[stream.id] = nil
      case .started(let layout):
        state.started.insert(layout)
        state.texts.append("the virtual sink \(layout.sinkName) is ready")
      case .stream(let layout, let event):
        // The sound of all virtual sinks goes to the same real sink, so the events of one of them
        // are enough.
        guard layout == state.started.min(), let text = Self.text(event.kind) else { break }
        state.texts.append(text)
      case .output, .noOutput, .failed, .defaultContested:
        if let text = Self.text(event) { state.texts.append(text) }
      }
    }
  }

  /// Returns the sentences that are due at `now` [ns], and removes them.
  package func take(now: Int64) -> [String] {
    state.withLock { state in
      let settled = state.places.filter { now - $0.value.time >= Self.settlingTime }
        .sorted { ($0.value.time, $0.key) < ($1.value.time, $1.key) }
      for (id, _) in settled { state.places[id] = nil }
      defer { state.texts = [] }
      return (state.texts + settled.map(\.value.text)).map(\.withoutControls)
    }
  }

  private static func text(_ stream: ProgramStream, _ layout: SinkLayout?) -> String {
    let name = stream.application.isEmpty ? "a program" : stream.application
    let sound = (stream.layout ?? .unknown(channels: stream.channelCount)).name
    guard let layout else { return "\(name) (\(sound)) plays directly to the output device" }
    return "\(name) (\(sound)) plays to \(layout.sinkName)"
  }

  private static func text(_ event: SystemWideEvent) -> String? {
    switch event {
    case .output(let sink): "the sound goes to \(RouteFacts(sink).name)"
    case .noOutput: "there is no output device; waiting for one"
    case .failed(let layout, let error):
      "cannot create the virtual sink \(layout.sinkName): \(error.message); trying again"
    case .defaultContested:
      "another program keeps changing the default sink; setting it again within 30 s"
    case .started, .routed, .ended, .stream: nil
    }
  }

  private static func text(_ kind: AudioOutputEvent.Kind) -> String? {
    switch kind {
    case .serverLost(let reason, _):
      "the connection to the sound server was lost (\(reason)); reconnecting"
    case .sinkLost(let reason, _): "the output device was lost (\(reason)); waiting for it"
    case .serverFrozen: "the sound server is not responding; waiting for it"
    case .serverThawed: "the sound server responds again"
    case .connected, .moved, .routed, .suspended, .unsuspended, .defaultSinkChanged, .underrun,
      .queueChanged, .drained:
      nil
    }
  }
}
