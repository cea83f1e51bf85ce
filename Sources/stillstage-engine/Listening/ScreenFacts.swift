// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import HeadTracking
import Playback
import Rendering
import ScreenView
import SoundServer
import SoundSources

/// The list of facts in the full-screen view.
struct ScreenFacts {
  let line: StatusLine
  let player: Player
  let display: PlayDisplay

  private var status: PlayerStatus { line.status }

  /// The facts, the most important first.
  var all: [ListeningState.Fact] {
    let decision = status.route
    let decoding = player.decoding
    let isPlain = decision.treatment == .plainStereo
    let sound = line.rendition?.name ?? display.source.layout
    // Without the word "mix", which is the label.
    let mix = status.mix.map { String(mixText($0.style, amount: $0.amount).dropFirst(4)) } ?? ""
    return [
      tracker, ListeningState.Fact("loudness", loudness), queue,
      ListeningState.Fact("HRTF", isPlain ? "" : decoding.hrtfName, canJoin: true),
      ListeningState.Fact(
        "decoder",
        isPlain ? decision.text : decoding.designText(isAmbisonic: player.isAmbisonic)),
      ListeningState.Fact("output", output),
      ListeningState.Fact("mix", mix, canJoin: true),
      ListeningState.Fact("sound", sound.withoutControls),
    ].filter { !$0.text.isEmpty }
  }

  private var tracker: ListeningState.Fact {
    guard line.recordedPose == nil else { return ListeningState.Fact("tracker", "recorded motion") }
    guard let head = status.head else { return ListeningState.Fact("tracker", "none") }
    let name = status.tracker.map { "\($0.name), " } ?? ""
    guard let age = head.ageMilliseconds, head.freshness != .waiting else {
      return ListeningState.Fact(
        "tracker", line.awaited ?? "none yet; see 'stillstage trackers'",
        style: .warning)
    }
    let rate = "\(Int(head.rate.rounded())) Hz"
    let isFresh = head.freshness == .fresh
    let old = age < 1000 ? "\(Int(age)) ms" : "\(Int(age / 1000)) s"
    return ListeningState.Fact(
      "tracker",
      isFresh
        ? "\(rate), \(old) old, \(name)".trimmedList : "silent for \(old), \(name)".trimmedList,
      style: isFresh ? .good : .alarm)
  }

  private var queue: ListeningState.Fact {
    let output = status.output
    let depth = "\(Int(output.queueMilliseconds.rounded())) ms"
    let latency = output.measuredLatencyMilliseconds.map { "\(Int($0.rounded())) ms" } ?? "--"
    let underruns = output.underruns
    return ListeningState.Fact(
      "queue", "\(depth), latency \(latency), \(underruns) underrun\(underruns == 1 ? "" : "s")",
      style: underruns > 0 ? .warning : .plain)
  }

  private var loudness: String {
    guard let report = status.loudness else { return "" }
    let gain = "\(report.gain > 0 ? "+" : "")\(decimal(report.gain, 1)) dB"
    return gain + (player.loudnessTarget.map { " to \(decimal($0, 0)) LUFS" } ?? "")
  }

  private var output: String {
    guard let facts = status.route.facts else { return "" }
    let kind =
      switch status.route.device {
      case .headphones: "headphones"
      case .loudspeakers: "loudspeakers"
      case .unknown: "treated as headphones"
      }
    return "\(facts.name.withoutControls), \(kind)"
  }
}

extension String {
  /// The text without control characters, and without a comma and space at its end.
  fileprivate var trimmedList: String {
    (hasSuffix(", ") ? String(dropLast(2)) : self).withoutControls
  }
}
