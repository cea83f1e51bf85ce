// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import CRealtime
import CommandOptions
import CommandSupport
import Geometry
import HLS
import HeadTracking
import Playback
import Rendering
import ScreenView
import SignalProcessing
import SoundServer
import SoundSources

/// The full-screen view of `play` and `demo`.
final class ListenerScreen {
  /// The time between two updates of the screen, in ns.
  static let interval: Int64 = 50_000_000

  private let player: Player
  private let screen: FullScreen
  private let display: PlayDisplay
  private var bars = (FallingLevel(), FallingLevel())
  private var holds = (HeldLevel(), HeldLevel())
  private var advice = RecentreAdvice()
  private var shownAt: Int64?

  /// - Throws: a failure if the terminal cannot be used.
  init(_ player: Player, _ display: PlayDisplay) throws(CommandFailure) {
    (self.player, self.display) = (player, display)
    screen = try FullScreen()
  }

  func open() { screen.open() }

  func close() { screen.close() }

  /// Shows the current state.
  ///
  /// - Parameters:
  ///   - line: the status line, whose values are shown.
  ///   - content: the layout of what is played; nil if unknown.
  ///   - keys: whether to list all keys.
  func show(
    _ line: StatusLine, content: ChannelLayout?, volume: String, keys showsKeys: Bool, now: Int64
  ) {
    let seconds = shownAt.map { Double(now - $0) * 1e-9 } ?? 0.05
    shownAt = now
    var state = ListeningState()
    let status = line.status
    state.title = title
    state.activity = Self.activity(status)
    state.volume = volume
    state.time = clockText(status.position) + (status.duration.map { " / " + clockText($0) } ?? "")
    state.fraction = status.duration.map { $0 > 0 ? min(1, status.position / $0) : 0 }
    state.head = line.screenHead
    add(line.levels, seconds: seconds, to: &state)
    var yaw: Double?
    if case .pose(let angle, _, _) = state.head, line.recordedPose == nil { yaw = angle }
    state.advice = advice.add(yaw: yaw, seconds: seconds)
    if case .noStage = state.head {} else { addStage(content, to: &state) }
    state.facts = ScreenFacts(line: line, player: player, display: display).all
    state.messages = HeldLines.recent
    if !line.notice.isEmpty { state.messages.append(line.notice) }
    state.keys = PlayKeys.hints
    state.help = showsKeys ? PlayKeys.list : nil
    screen.show { [symbols = screen.symbols] columns, rows in
      ListeningView(state, symbols: symbols).draw(columns: columns, rows: rows)
    }
  }

  private var title: String {
    display.source.name?.withoutControls ?? "stillstage"
  }

  private static func activity(_ status: PlayerStatus) -> String {
    switch status.state {
    case .playing, .finished, .stopped: ""
    case .paused: "paused"
    case .buffering:
      "buffering" + (ServerWait.current.map { ", waiting for \($0.host.withoutControls)" } ?? "")
    case .waitingForOutput: "no output"
    }
  }

  private func add(_ levels: LevelMeter.Levels, seconds: Double, to state: inout ListeningState) {
    let left = Double(decibels(max(1e-10, levels.peak.x)))
    let right = Double(decibels(max(1e-10, levels.peak.y)))
    bars.0.add(left, seconds: seconds)
    bars.1.add(right, seconds: seconds)
    holds.0.add(left, seconds: seconds)
    holds.1.add(right, seconds: seconds)
    state.peaks = (bars.0.level, bars.1.level)
    state.held = (holds.0.level, holds.1.level)
  }

  /// Adds what is on the stage: the sounds at known positions, the loudspeakers, or the order of a
  /// soundfield.
  private func addStage(_ content: ChannelLayout?, to state: inout ListeningState) {
    if !display.parts.isEmpty {
      state.sources = display.parts
      return
    }
    var layout = player.stageLayout
    if case .ambisonics = layout, let content { layout = content }
    switch layout {
    case .speakers(let speakers):
      state.sources = speakers.compactMap { speaker in
        speaker.direction(in: speakers).map { direction in
          ListeningState.Source(
            name: speaker.shortName, azimuth: direction.azimuth, elevation: direction.elevation)
        }
      }
    case .ambisonics(let order, _, _): state.stageText = "soundfield, order \(order)"
    case .unknown: break
    }
  }
}

extension StatusLine {
  /// The head as the full-screen view shows it.
  var screenHead: ListeningState.Head {
    if status.route.treatment != .binaural { return .noStage(status.route.text) }
    switch status.mode {
    case .off: return .noStage("plain stereo")
    case .fixed: return .fixed
    case .tracked: break
    }
    if let recordedPose { return pose(recordedPose) }
    guard let head = status.head else { return .unknown("no tracker") }
    switch head.freshness {
    case .waiting:
      if let awaited { return .unknown("waiting for \(awaited)") }
      return .unknown(status.tracker == nil ? "no tracker" : "no pose from the tracker yet")
    case .fresh: return pose(head.pose)
    case .stale, .lost:
      return .lost(
        isDisconnected
          ? "the tracker is disconnected; connect it again"
          : "the tracker is silent; is it switched on?")
    }
  }

  private func pose(_ pose: Quaternion) -> ListeningState.Head {
    let angles = YawPitchRoll(pose)
    return .pose(yaw: angles.yaw, pitch: angles.pitch, roll: angles.roll)
  }
}

extension Speaker {
  /// A name of two to four characters for the drawing, like FFmpeg's channel names.
  fileprivate var shortName: String {
    switch self {
    case .frontLeft: "FL"
    case .frontRight: "FR"
    case .frontCenter: "FC"
    case .lowFrequency: "LFE"
    case .lowFrequency2: "LFE2"
    case .backLeft: "BL"
    case .backRight: "BR"
    case .frontLeftOfCenter: "FLC"
    case .frontRightOfCenter: "FRC"
    case .backCenter: "BC"
    case .sideLeft: "SL"
    case .sideRight: "SR"
    case .topCenter: "TC"
    case .topFrontLeft: "TFL"
    case .topFrontCenter: "TFC"
    case .topFrontRight: "TFR"
    case .topBackLeft: "TBL"
    case .topBackCenter: "TBC"
    case .topBackRight: "TBR"
    case .topSideLeft: "TSL"
    case .topSideRight: "TSR"
    case .wideLeft: "WL"
    case .wideRight: "WR"
    case .bottomFrontCenter: "BFC"
    case .bottomFrontLeft: "BFL"
    case .bottomFrontRight: "BFR"
    }
  }
}
