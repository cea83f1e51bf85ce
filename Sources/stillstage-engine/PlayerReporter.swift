// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Geometry
import HeadTracking
import Playback
import PulseAudio

/// Tells the listener and the event log what a player does.
final class PlayerReporter {
  private let player: Player
  private let console: Console
  private let events: EventLog
  private var shownAt: Int64 = 0
  private var mutedFrames = 0

  init(player: Player, console: Console, events: EventLog) {
    self.player = player
    self.console = console
    self.events = events
  }

  /// Passes on what happened and renews the status line ten times a second.
  func report() {
    for event in player.takeEvents() { tell(event) }
    let status = player.status
    if status.mutedFrames > mutedFrames {
      if mutedFrames == 0 { say("the source holds numbers that are no sound; they are muted") }
      events.write("muted", ["frames": .integer(status.mutedFrames - mutedFrames)])
      mutedFrames = status.mutedFrames
    }
    let now = monotonic_nanoseconds()
    guard console.isInteractive, now - shownAt > 100_000_000 else { return }
    shownAt = now
    console.show(StatusLine.text(status, levels: player.levels()))
  }

  func end() {
    console.clear()
    console.restore()
  }

  private func say(_ text: String) {
    console.clear()
    printNote(text)
  }

  private func tell(_ event: PlayerEvent) {
    switch event {
    case .output(let output): tell(output.kind)
    case .tracker(let tracker): tell(tracker)
    case .deviceTracker(let tracker): tell(device: tracker)
    case .warning(let text):
      say(text)
      events.warning(text)
    case .sourceFailed(let text):
      say(text)
      events.write("source-failed", ["message": .text(text)])
    case .buffering: events.write("buffering")
    case .resumed: events.write("resumed")
    case .modeChanged(let mode): events.write("mode", ["mode": .text(mode.rawValue)])
    case .decoderChanged(let settings):
      say("decoder: \(settings.summary(isAmbisonic: player.isAmbisonic))")
      events.write("decoder", ["decoder": .text(settings.summary(isAmbisonic: player.isAmbisonic))])
    case .decoderKept(let settings, let reason):
      say("no change to \(settings.summary(isAmbisonic: player.isAmbisonic)): \(reason)")
      events.write("decoder-kept", ["message": .text(reason)])
    case .finished: events.write("finished")
    }
  }

  private func tell(_ kind: AudioOutputEvent.Kind) {
    switch kind {
    case .connected(let sink):
      let status = player.status.output
      events.write(
        "connected",
        [
          "sink": .text(sink), "rate": .integer(status.sampleRate),
          "queueMilliseconds": .number(status.queueMilliseconds),
        ])
    case .serverLost(let reason, let frames):
      say("the sound server is gone (\(reason)); waiting for it")
      events.write("server-lost", ["reason": .text(reason), "framesLost": .integer(frames)])
    case .sinkLost(let reason, let frames):
      say("the output device is gone (\(reason)); waiting for one")
      events.write("sink-lost", ["reason": .text(reason), "framesLost": .integer(frames)])
    case .serverFrozen:
      say("the sound server does not answer; waiting for it")
      events.write("server-frozen")
    case .serverThawed: events.write("server-thawed")
    case .moved(let sink):
      say("the sound was moved to \(sink)")
      events.write("moved", ["sink": .text(sink)])
    case .suspended: events.write("suspended")
    case .unsuspended: events.write("unsuspended")
    case .defaultSinkChanged(let sink): events.write("default-sink", ["sink": .text(sink)])
    case .underrun(let total): events.write("underrun", ["total": .integer(total)])
    case .queueChanged(let depth, let rewriting):
      if case .sinkReadsTooFarAhead(let ahead) = rewriting {
        say("the output reads \(Int(ahead)) ms ahead: the queue is kept short, not rendered again")
      }
      events.write(
        "queue-changed",
        ["milliseconds": .number(depth), "rewriting": .text(rewriting.name)])
    case .drained: break
    }
  }

  private func tell(_ event: TrackerEvent) {
    switch event {
    case .waiting: events.write("tracker-waiting")
    case .connected(let tracker):
      say("head tracker: \(tracker.name)")
      events.write("tracker-connected", ["id": .text(tracker.id), "name": .text(tracker.name)])
    case .lost(let tracker):
      say("the head tracker \(tracker.name) is gone; the stage comes to the front")
      events.write("tracker-lost", ["id": .text(tracker.id)])
    case .discontinuity: events.write("tracker-jump")
    case .recentered: events.write("tracker-recentre")
    case .failed(let error):
      say(error.description)
      events.write("tracker-failed", ["message": .text(error.description)])
    }
  }

  private func tell(device event: TrackerEvent) {
    switch event {
    case .waiting: events.write("device-tracker-waiting")
    case .recentered: break
    case .connected(let tracker):
      say("device tracker: \(tracker.name)")
      events.write(
        "device-tracker-connected", ["id": .text(tracker.id), "name": .text(tracker.name)])
    case .lost(let tracker):
      say("the device tracker \(tracker.name) is gone; the stage stays in the room")
      events.write("device-tracker-lost", ["id": .text(tracker.id)])
    case .discontinuity: events.write("device-tracker-jump")
    case .failed(let error):
      say(error.description)
      events.write("device-tracker-failed", ["message": .text(error.description)])
    }
  }
}

extension RenderSettings {
  /// HRTF set, design and, for loudspeakers, order in a few words.
  fileprivate func summary(isAmbisonic: Bool) -> String {
    let name = hrtfPath.map { String($0.split(separator: "/").last ?? "") } ?? "default HRTF"
    if isDirect { return "\(name), direct" }
    if isParametric { return "\(name), parametric" }
    return "\(name), \(method.rawValue)" + (isAmbisonic ? "" : ", bus of order \(busOrder)")
  }
}
