// SPDX-License-Identifier: Apache-2.0

import AudioMix
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

enum StatusLine {
  static func text(
    _ status: PlayerStatus, rendition: RenditionNews?, levels: LevelMeter.Levels
  ) -> String {
    [
      state(status), rendition?.name ?? "", mode(status), latency(status),
      "\(status.output.underruns) underruns", mix(status), loudness(status), meter(levels),
    ].filter { !$0.isEmpty }.joined(separator: "  ")
  }

  private static func state(_ status: PlayerStatus) -> String {
    let time =
      clockText(status.position) + (status.duration.map { " / " + clockText($0) } ?? "")
    return switch status.state {
    case .playing: time
    case .paused: "\(time) paused"
    case .buffering:
      "\(time) buffering" + (ServerWait.current.map { ", waiting for \($0.host)" } ?? "")
    case .waitingForOutput: "\(time) no output"
    case .finished, .stopped: time
    }
  }

  private static func mode(_ status: PlayerStatus) -> String {
    if status.route.treatment != .binaural, status.mode != .off { return status.route.text }
    switch status.mode {
    case .off: return "plain stereo"
    case .fixed: return "stage fixed to the head"
    case .tracked: break
    }
    guard let head = status.head, head.freshness != .waiting else { return "no tracker" }
    let angles = YawPitchRoll(head.pose)
    let pose = "yaw \(degrees(angles.yaw)) pitch \(degrees(angles.pitch))"
    return head.freshness == .fresh
      ? "\(pose) roll \(degrees(angles.roll))  \(Int(head.rate.rounded())) Hz"
      : "\(pose) tracker silent"
  }

  private static func degrees(_ value: Double) -> String { "\(Int(value.rounded()))" }

  private static func latency(_ status: PlayerStatus) -> String {
    guard let measured = status.output.measuredLatencyMilliseconds else { return "-- ms" }
    return "\(Int(measured.rounded())) ms"
  }

  private static func mix(_ status: PlayerStatus) -> String {
    guard let mix = status.mix else { return "" }
    return mixText(mix.style, amount: mix.amount)
  }

  private static func loudness(_ status: PlayerStatus) -> String {
    guard let report = status.loudness else { return "" }
    let gain = Int(report.gain.rounded())
    return "level \(gain > 0 ? "+" : "")\(gain) dB"
  }

  private static func meter(_ levels: LevelMeter.Levels) -> String {
    "L \(level(levels.peak.x)) R \(level(levels.peak.y)) dB"
  }

  private static func level(_ peak: Float) -> String {
    peak < 1e-5 ? "--" : "\(Int(decibels(peak).rounded()))"
  }
}
