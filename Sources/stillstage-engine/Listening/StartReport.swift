// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import CommandOptions
import CommandSupport
import HeadTracking
import NetworkTracking
import Playback
import Rendering
import SoundSources

/// What is known about a sound when it is opened.
struct SourceFacts {
  var title: String?
  var artist: String?
  /// The layout and, for a file, how it was determined, such as "5.1 (stated by the file)".
  var layout = ""
  /// The layout of the content; nil if unknown.
  var content: ChannelLayout?

  init() {}

  init(_ source: any SoundSource) {
    title = source.title
    let content = source.contentLayout(atFrame: 0)
    self.content = content
    let name = content.name
    guard let file = source as? FileSource else {
      layout = source.isBinaural ? "\(name), made for headphones" : name
      return
    }
    artist = file.artist
    layout = "\(name) (\(Self.reason(file)))"
    if file.isBinaural { layout += ", made for headphones" }
  }

  private static func channels(_ count: Int) -> String {
    switch count {
    case 1: "one channel"
    case 2: "two channels"
    default: "assumed for \(count) unlabelled channels"
    }
  }

  private static func reason(_ file: FileSource) -> String {
    switch file.layoutOrigin {
    case .stated: "stated by the file"
    case .channelCount: Self.channels(file.layout.channelCount)
    case .chosen: "chosen with --layout"
    }
  }

  /// The artist and the title; nil if neither is known.
  var name: String? {
    let parts = [artist, title].compactMap(\.self).filter { !$0.isEmpty }
    return parts.isEmpty ? nil : parts.joined(separator: " - ")
  }
}

/// The lines that `play` and `demo` print at the start.
struct StartReport {
  let lines: [(label: String, text: String)]

  init(_ display: PlayDisplay, _ player: Player) {
    let decision = player.routeDecision
    let output = decision.facts?.name ?? ""
    let entries: [(String, String?)] = [
      ("playing", display.source.name),
      ("layout", display.source.layout),
      ("decoder", Self.decoder(player, decision)),
      ("output", output.isEmpty ? nil : "\(output), \(Self.kind(decision))"),
      ("head", display.head),
    ]
    lines = entries.compactMap { label, text in
      text.flatMap { $0.isEmpty ? nil : (label, $0.withoutControls) }
    }
  }

  private static func decoder(_ player: Player, _ decision: RouteDecision) -> String {
    decision.treatment == .plainStereo
      ? "none: \(decision.text)" : player.decoding.summary(isAmbisonic: player.isAmbisonic)
  }

  private static func kind(_ decision: RouteDecision) -> String {
    switch decision.device {
    case .headphones: "headphones"
    case .loudspeakers: "loudspeakers"
    case .unknown: "treated as headphones: \(decision.reason.text)"
    }
  }
}

/// Returns the origin of the head pose as text.
func headText(
  _ command: ParsedCommand, _ options: PlayerOptions, _ network: PlayedNetworkTracker?
) -> String {
  if let network { return "waiting for \(network.session.tracker.text)" }
  switch options.head {
  case .automatic: return "waiting for a head tracker; 'stillstage trackers' lists the trackers"
  case .tracker(let id):
    return "waiting for the tracker \(id); 'stillstage trackers' lists the trackers"
  case .recorded: return "recorded motion" + (command[Options.motion].map { " \($0)" } ?? "")
  case .source: return ""
  case .none: return "no tracker"
  }
}
