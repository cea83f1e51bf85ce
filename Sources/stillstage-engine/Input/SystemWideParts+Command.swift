// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import CommandSupport
import NetworkTracking
import Playback
import PulseAudio
import Rendering

/// The hidden command that runs the keeper of PulseAudio's virtual sinks.
let keeperCommand = "sink-keeper"

/// Prepares the renderers and the functions that make the virtual sinks, according to the options
/// of `sink`. Also starts the network tracker that the options name, if any.
func systemWideParts(_ command: ParsedCommand) throws(CommandFailure) -> SystemWideParts {
  let network = try playedNetworkTracker(command)
  var options = try playerOptions(command, network)
  options.render = try RenderSettings(ofSink: command)
  options.mode = StageMode(command[Options.sinkMode])
  let fronts = FrontStore(isKept: command[Options.keepFront])
  options.fronts = fronts.read()
  let layouts = Set(command[Options.sinkLayouts].compactMap { SinkLayout(rawValue: $0.rawValue) })
  let keeper = ProgramFiles.ofThisProcess.map { ["\($0.folder)/stillstage-engine", keeperCommand] }
  return try playing { [options] () throws(PlaybackError) in
    try SystemWideParts(
      layouts: layouts.sorted(), options: options, isLimited: command[Options.sinkLimiter],
      keeper: keeper, describe: note,
      atEnd: { front in
        fronts.keep(front)
        network?.session.stop()
      })
  }
}

/// Returns the clean-up for the server that `sink` would use with these options.
func systemWideCleanUp(_ command: ParsedCommand) -> SystemWideCleanUp {
  SystemWideCleanUp(output: OutputChoice(command[Options.soundServer]))
}

/// Returns a note for the listener about an event; nil if the event needs no note.
@Sendable private func note(_ event: PlayerEvent) -> String? {
  switch event {
  case .tracker(let event): event.note
  case .deviceTracker(let event): event.deviceNote
  case .warning(let text): text
  case .routeChanged(let decision):
    (decision.facts.map { "\($0.name): " } ?? "") + decision.text
  case .modeChanged(let mode): "mode: \(mode.rawValue)"
  case .decoderKept(_, let reason):
    "cannot switch to the decoder for this output: \(reason.optionText)"
  default: nil
  }
}
