// SPDX-License-Identifier: Apache-2.0

import AudioMix
import CommandSupport
import Geometry
import HLS
import HeadTracking
import Playback
import Rendering
import SignalProcessing
import SoundServer
import SoundSources

/// Describes a mix in a few words, such as "mix cinematic 50 %".
func mixText(_ style: MixStyle, amount: Double) -> String {
  let hasAmount = style != .standard && !style.isStem
  return "mix " + style.rawValue + (hasAmount ? " \(Int((100 * amount).rounded())) %" : "")
}

/// The status line of `play` and `demo`.
struct StatusLine {
  let status: PlayerStatus
  var rendition: RenditionNews?
  var levels: LevelMeter.Levels
  /// The head pose in the recorded motion; nil if there is no recorded motion.
  var recordedPose: Quaternion?
  /// What has just changed, or that the sound is muted; empty if nothing is to be shown.
  var notice = ""
  /// The protocol and the address at which a network tracker is awaited, such as "OSC on
  /// 127.0.0.1:9000"; nil for other trackers.
  var awaited: String?

  /// The parts in the order in which they are shown. A narrow terminal shows only those with the
  /// lowest ranks.
  var line: FittedLine {
    let head = headParts
    return FittedLine([
      LinePart(state, rank: 0),
      LinePart(notice, rank: 1),
      LinePart(rendition?.name.withoutControls ?? "", rank: 10),
      LinePart(head.pose, rank: 2),
      LinePart(head.rate, rank: 3),
      LinePart(latency, rank: 7),
      LinePart(underruns, rank: 4),
      LinePart(mix, rank: 8),
      LinePart(loudness, rank: 6),
      LinePart(meter, rank: 5),
      LinePart(output, rank: 9),
    ])
  }

  private var underruns: String {
    let count = status.output.underruns
    return "\(count) underrun" + (count == 1 ? "" : "s")
  }

  private var state: String {
    let time =
      clockText(status.position) + (status.duration.map { " / " + clockText($0) } ?? "")
    return switch status.state {
    case .playing: time
    case .paused: "\(time) paused"
    case .buffering:
      "\(time) buffering"
        + (ServerWait.current.map { ", waiting for \($0.host.withoutControls)" } ?? "")
    case .waitingForOutput: "\(time) no output"
    case .finished, .stopped: time
    }
  }

  private var headParts: (pose: String, rate: String) {
    if status.route.treatment != .binaural, status.mode != .off { return (status.route.text, "") }
    switch status.mode {
    case .off: return ("plain stereo", "")
    case .fixed: return ("stage fixed to the head", "")
    case .tracked: break
    }
    if let recordedPose { return (pose(recordedPose), "recorded motion") }
    guard let head = status.head else { return ("no tracker", "") }
    switch head.freshness {
    case .waiting:
      if let awaited { return ("waiting for \(awaited)", "") }
      return (status.tracker == nil ? "no tracker" : "no pose from the tracker yet", "")
    case .fresh: return (pose(head.pose), "tracker \(Int(head.rate.rounded())) Hz")
    case .stale, .lost:
      return (isDisconnected ? "tracker disconnected" : "tracker silent", "")
    }
  }

  /// Whether a tracker that no longer sends poses was disconnected. A network tracker can only be
  /// silent.
  var isDisconnected: Bool { status.tracker == nil && awaited == nil }

  private func pose(_ pose: Quaternion) -> String {
    let angles = YawPitchRoll(pose)
    return "yaw \(degrees(angles.yaw)) pitch \(degrees(angles.pitch)) "
      + "roll \(degrees(angles.roll))"
  }

  private func degrees(_ value: Double) -> String { "\(Int(value.rounded()))" }

  private var latency: String {
    guard let measured = status.output.measuredLatencyMilliseconds else { return "latency -- ms" }
    return "latency \(Int(measured.rounded())) ms"
  }

  private var mix: String {
    guard let mix = status.mix else { return "" }
    return mixText(mix.style, amount: mix.amount)
  }

  private var loudness: String {
    guard let report = status.loudness else { return "" }
    return "loudness \(report.gain > 0 ? "+" : "")\(decimal(report.gain, 1)) dB"
  }

  private var meter: String {
    "L \(level(levels.peak.x)) R \(level(levels.peak.y)) dB"
  }

  private func level(_ peak: Float) -> String {
    peak < 1e-5 ? "--" : "\(Int(decibels(peak).rounded()))"
  }

  private var output: String {
    guard let facts = status.route.facts else { return "" }
    let name = facts.portDescription ?? (facts.description.isEmpty ? facts.sink : facts.description)
    return name.withoutControls
  }
}
