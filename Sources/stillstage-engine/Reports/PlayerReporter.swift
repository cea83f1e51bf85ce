// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import CRealtime
import CommandOptions
import CommandSupport
import Glibc
import HeadTracking
import Playback
import Rendering
import SoundServer
import SoundSources

/// Reports a player's events to the listener and the event log.
final class PlayerReporter {
  private let player: Player
  private let console: Console
  private let events: EventLog
  private let keys: PlayerKeys
  private let isQuiet: Bool
  private var shownAt: Int64 = 0
  private var plainStatus = PlainStatus()
  /// What has just changed, and the CLOCK_MONOTONIC time until which it is shown [ns].
  private var notice: (text: String, end: Int64)?
  /// The last reason why a key had no effect, and the CLOCK_MONOTONIC time until which it is not
  /// repeated [ns].
  private var refusal: (text: String, end: Int64)?
  private var showsKeys = false
  /// The full-screen view; nil before it is first opened.
  private var screen: ListenerScreen?
  private var isFullScreen = false
  private var display = PlayDisplay()
  private var content: ChannelLayout?
  private var recorded: HeadTrajectory?
  /// The protocol and the address at which a network tracker is awaited; nil for other trackers.
  private var awaited: String?
  private var mutedFrames = 0
  /// The last route decision; nil before the first one.
  private var told: RouteDecision?
  /// The text of the source's first error; nil if there was none.
  private(set) var failure: String?
  /// The current rendition; nil if there is none.
  private var rendition: RenditionNews?
  private let pausesOnRemoval: Bool
  private var removalPause = RemovalPause()

  /// - Parameters:
  ///   - isQuiet: whether to omit the description of what is played, and to omit the status line
  ///     unless the user displays the keys or the full-screen view.
  ///   - pausesOnRemoval: whether to pause while both earphones are out.
  init(
    player: Player, console: Console, events: EventLog, keys: PlayerKeys, isQuiet: Bool,
    pausesOnRemoval: Bool
  ) {
    (self.keys, self.isQuiet) = (keys, isQuiet)
    self.pausesOnRemoval = pausesOnRemoval
    self.player = player
    self.console = console
    self.events = events
  }

  /// Reports new events. Updates the status line or the full-screen view if `interval` has passed.
  func report() {
    if !player.isPaused { removalPause.notePlaying() }
    for event in player.takeEvents() { tell(event) }
    let status = player.status
    if status.mutedFrames > mutedFrames {
      if mutedFrames == 0 {
        say("the source contains invalid samples (NaN, infinite or huge); they are muted")
      }
      events.write("muted", ["frames": .integer(status.mutedFrames - mutedFrames)])
      mutedFrames = status.mutedFrames
    }
    let now = monotonic_nanoseconds()
    guard now - shownAt >= interval else { return }
    // One late update of the display does not delay the next ones.
    shownAt = now - shownAt < 2 * interval ? shownAt + interval : now
    showStatus(status, now: now)
  }

  /// The time between two updates of the display, in ns.
  private var interval: Int64 { isFullScreen ? ListenerScreen.interval : 100_000_000 }

  /// How long the caller may wait for a key before the next `report`.
  var pauseMilliseconds: Int32 {
    let rest = shownAt + interval - monotonic_nanoseconds()
    return Int32(max(1, min(50, (rest + 999_999) / 1_000_000)))
  }

  private func showStatus(_ status: PlayerStatus, now: Int64) {
    let isInteractive = console.isInteractive
    guard !isQuiet || showsKeys || isFullScreen, isInteractive || plainStatus.isDue(now: now) else {
      return
    }
    var line = StatusLine(status: status, rendition: rendition, levels: player.levels())
    if let recorded { line.recordedPose = recorded.pose(atSeconds: status.position) }
    line.awaited = awaited
    if let notice, now < notice.end {
      line.notice = notice.text
    } else {
      line.notice = keys.isMuted ? "muted" : ""
    }
    guard isInteractive else { return printStatus(line.line.full) }
    if isFullScreen, let screen {
      return screen.show(
        line, content: content, volume: keys.volumeText, keys: showsKeys, now: now)
    }
    console.show(line.line, below: showsKeys ? PlayKeys.list : [])
  }

  /// Shows what is played and how, unless the reporter is quiet. Opens the full-screen view if
  /// `display` demands it. Call this once, before `report`.
  func begin(_ display: PlayDisplay, _ options: PlayerOptions) {
    if case .recorded(let trajectory) = options.head { recorded = trajectory }
    awaited = display.awaited
    content = display.source.content
    self.display = display
    defer { if display.isFullScreen { toggleScreen() } }
    guard !isQuiet else { return }
    let report = StartReport(display, player)
    guard console.isInteractive else {
      for line in report.lines { printStatus("\(line.label): \(line.text)") }
      return
    }
    for line in report.lines {
      let label = line.label + ":" + String(repeating: " ", count: max(1, 8 - line.label.count))
      printParagraph(label + printable(line.text), indent: 9)
    }
    if console.readsKeys {
      printParagraph("keys:    \(PlayKeys.first)", indent: 9)
    }
  }

  func end() {
    screen?.close()
    console.clear()
    console.restore()
  }

  // MARK: Keys

  /// Performs the action of a key. Returns true if the key ends playback.
  func obey(_ key: Console.Key) -> Bool {
    if isFullScreen, key == .escape {
      toggleScreen()
      return false
    }
    switch keys.obey(key) {
    case .done: break
    case .changed(let text): show(text)
    case .volumeChanged:
      events.write(
        "volume",
        [
          "db": .number((keys.volumeDecibels * 10).rounded() / 10),
          "muted": .truth(keys.isMuted),
        ])
      show(keys.volumeText)
    case .noEffect(let reason): refuse(reason)
    case .togglesHelp: toggleKeys()
    case .togglesScreen: toggleScreen()
    case .ends: return true
    }
    return false
  }

  /// Shows for 3 s what has changed. Without a terminal, also prints it, unless the reporter is
  /// quiet.
  private func show(_ text: String) {
    notice = (text, monotonic_nanoseconds() + 3_000_000_000)
    showSoon()
    if !console.isInteractive, !isQuiet { printStatus(text) }
  }

  /// Makes the next `report` update the status line. The full-screen view keeps its rate, even if a
  /// key repeats quickly.
  private func showSoon() { if !isFullScreen { shownAt = 0 } }

  /// Prints why a key has no effect, unless the previous call gave the same reason less than 3 s
  /// ago.
  private func refuse(_ reason: String) {
    let now = monotonic_nanoseconds()
    defer { refusal = (reason, now + 3_000_000_000) }
    if let refusal, refusal.text == reason, now < refusal.end { return }
    say(reason)
  }

  private func toggleKeys() {
    guard console.isInteractive else {
      for line in PlayKeys.list { printStatus(line) }
      return
    }
    showsKeys.toggle()
    showSoon()
    if !showsKeys { console.clear() }
  }

  private func toggleScreen() {
    if isFullScreen {
      screen?.close()
      isFullScreen = false
    } else {
      guard console.isInteractive else {
        return refuse("the full-screen view needs a terminal (not TERM=dumb) as standard output")
      }
      console.clear()
      do throws(CommandFailure) {
        if let screen { screen.open() } else { screen = try ListenerScreen(player, display) }
        isFullScreen = true
      } catch { refuse(error.message ?? "") }
    }
    shownAt = 0
  }

  /// Reports a note that is not a player event.
  func tell(_ note: String) {
    say(note)
    events.warning(note)
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
    case .sourceFailed(let error):
      let text = error.optionText
      failure = failure ?? text
      events.write("source-failed", ["message": .text(text)])
    case .buffering: events.write("buffering")
    case .resumed: events.write("resumed")
    case .modeChanged(let mode): events.write("mode", ["mode": .text(mode.rawValue)])
    case .mixChanged(let style, let amount):
      events.write(
        "mix", ["style": .text(style.rawValue), "amount": .number((100 * amount).rounded() / 100)])
    case .routeChanged(let decision): tell(decision)
    case .layoutChanged(let layout):
      content = layout
      if rendition == nil { say("the channel layout of the source changes to \(layout.name)") }
      events.write("layout", ["layout": .text(layout.name)])
    case .multichannelOffered(let offer):
      let how = offer.optionText
      say("more channels are available than are playing: \(how)")
      events.write("multichannel-offered", ["message": .text(how)])
    case .decoderChanged(let settings):
      say("decoder: \(settings.summary(isAmbisonic: player.isAmbisonic))")
      events.write("decoder", ["decoder": .text(settings.summary(isAmbisonic: player.isAmbisonic))])
    case .decoderKept(let settings, let error):
      let reason = error.optionText
      say("cannot switch to \(settings.summary(isAmbisonic: player.isAmbisonic)): \(reason)")
      events.write("decoder-kept", ["message": .text(reason)])
    case .loudness(let report): events.write("loudness", report.values)
    case .news(let news): tell(news)
    case .finished: events.write("finished")
    }
  }

  private func tell(_ news: SourceNews) {
    switch news {
    case .note(let text):
      say(text)
      events.write("stream", ["message": .text(text)])
    case .rendition(let now):
      if rendition != nil {
        say("now playing \(now.name): \(now.reason ?? "the rendition changed")")
      }
      rendition = now
      events.write("rendition", now.values)
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
      say("the connection to the sound server was lost (\(reason)); reconnecting")
      events.write("server-lost", ["reason": .text(reason), "framesLost": .integer(frames)])
    case .sinkLost(let reason, let frames):
      say("the output device was lost (\(reason)); waiting for an output device")
      events.write("sink-lost", ["reason": .text(reason), "framesLost": .integer(frames)])
    case .serverFrozen:
      say("the sound server is not responding; waiting for it")
      events.write("server-frozen")
    case .serverThawed: events.write("server-thawed")
    case .moved(let sink):
      say("the sound was moved to \(sink)")
      events.write("moved", ["sink": .text(sink)])
    // `PlayerEvent.routeChanged` reports this change.
    case .routed: break
    case .suspended: events.write("suspended")
    case .unsuspended: events.write("unsuspended")
    case .defaultSinkChanged(let sink): events.write("default-sink", ["sink": .text(sink)])
    case .underrun(let total): events.write("underrun", ["total": .integer(total)])
    case .queueChanged(let depth, let rewriting):
      if case .sinkReadsTooFarAhead(let ahead) = rewriting {
        say("the output reads \(Int(ahead)) ms ahead, so queued sound does not follow the head")
      }
      events.write(
        "queue-changed",
        ["milliseconds": .number(depth), "rewriting": .text(rewriting.name)])
    case .drained: break
    }
  }

  private func tell(_ decision: RouteDecision) {
    // The status line shows the mode, so a change of the mode needs no note.
    let isNews = decision != told && decision.reason != .modeOff && told?.reason != .modeOff
    // Report the first decision only if its treatment is not binaural and the mode is not `off`.
    let isSurprise = decision.treatment != .binaural && decision.reason != .modeOff
    if isNews, told != nil || isSurprise {
      say((decision.facts.map { "\($0.name): " } ?? "") + decision.text)
    }
    told = decision
    events.write("route", decision.values)
  }

  private func tell(_ event: TrackerEvent) {
    if let note = event.note { say(note) }
    switch event {
    case .waiting: events.write("tracker-waiting")
    case .connected(let tracker):
      events.write("tracker-connected", ["id": .text(tracker.id), "name": .text(tracker.name)])
    case .lost(let tracker): events.write("tracker-lost", ["id": .text(tracker.id)])
    case .discontinuity: events.write("tracker-jump")
    case .newFront: break
    case .recentered: events.write("tracker-recentre")
    case .worn(let isWorn):
      events.write(isWorn ? "tracker-worn" : "tracker-removed")
      if pausesOnRemoval { pause(whileOut: !isWorn) }
    case .failed(let error):
      events.write("tracker-failed", ["message": .text(error.description)])
    }
  }

  private func pause(whileOut isOut: Bool) {
    switch removalPause.action(isOut: isOut, isPaused: player.isPaused) {
    case .pause: player.pause()
    case .resume: player.resume()
    case nil: break
    }
  }

  private func tell(device event: TrackerEvent) {
    if let note = event.deviceNote { say(note) }
    switch event {
    case .waiting: events.write("device-tracker-waiting")
    case .newFront, .recentered, .worn: break
    case .connected(let tracker):
      events.write(
        "device-tracker-connected", ["id": .text(tracker.id), "name": .text(tracker.name)])
    case .lost(let tracker): events.write("device-tracker-lost", ["id": .text(tracker.id)])
    case .discontinuity: events.write("device-tracker-jump")
    case .failed(let error):
      events.write("device-tracker-failed", ["message": .text(error.description)])
    }
  }
}
