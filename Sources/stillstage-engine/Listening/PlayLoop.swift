// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Glibc
import Playback
import Rendering
import ScreenView
import SoundSources
import Synchronization

/// What `play` and `demo` show on the terminal.
struct PlayDisplay {
  /// Whether to hide the lines at the start and the status line.
  var isQuiet = false
  /// What is known about the sound before playback begins.
  var source = SourceFacts()
  /// The origin of the head pose as text, such as "recorded motion"; empty to show none.
  var head = ""
  /// The protocol and the address at which the program waits for a network tracker, such as "OSC on
  /// 127.0.0.1:9000"; nil for other trackers.
  var awaited: String?
  /// Whether to begin with the full-screen view.
  var isFullScreen = false
  /// The sounds on the stage with their positions; empty if the source does not state them.
  var parts: [ListeningState.Source] = []
}

/// Plays a source until it ends, or until the listener or a signal ends playback. Throws
/// `interrupted` after a signal.
///
/// - Parameter source: opens the sound, and notes in the display what is known about the sound.
func play(
  _ options: PlayerOptions, events: EventLog, sets: HRTFChoices = HRTFChoices(),
  notes: TrackerEvents = TrackerEvents(), pausesOnRemoval: Bool = false,
  display: PlayDisplay = PlayDisplay(), atEnd: (Player) -> Void = { _ in },
  source: (Int, inout PlayDisplay) throws(PlaybackError) -> any SoundSource
) throws(CommandFailure) {
  var display = display
  let player = try playing { () throws(PlaybackError) in
    try during("preparing playback") { () throws(PlaybackError) in
      try Player(options: options) { rate throws(PlaybackError) in try source(rate, &display) }
    }
  }
  for note in player.notes { printNote(note) }
  // From now on, the command ends with a fade-out, which takes time.
  SignalDeadline.allow(milliseconds: 1500)
  try playing { () throws(PlaybackError) in
    try during("connecting to the sound server") { () throws(PlaybackError) in
      try player.start()
    }
  }
  let suspension = Suspension.add(pausing(player))
  defer { Suspension.remove(suspension) }
  let console = Console()
  if console.isInteractive { ServerWait.moveToStatusLine() }
  let reporter = PlayerReporter(
    player: player, console: console, events: events, keys: PlayerKeys(player, sets: sets),
    isQuiet: display.isQuiet, pausesOnRemoval: pausesOnRemoval)
  reporter.begin(display, options)
  var wantsToEnd = false
  while !wantsToEnd, !player.isFinished, Signals.received == nil {
    for key in console.keys(waitMilliseconds: reporter.pauseMilliseconds)
    where reporter.obey(key) { wantsToEnd = true }
    for note in notes.take() { reporter.tell(note) }
    reporter.report()
  }
  player.stop()
  atEnd(player)
  reporter.report()
  reporter.end()
  if Signals.received != nil { throw .interrupted }
  if let failure = reporter.failure { throw CommandFailure(failure) }
}

/// Returns actions that pause a player while the process is stopped; otherwise, an underrun would
/// occur.
private func pausing(_ player: Player) -> Suspension.Actions {
  let isPausedHere = SharedFlag()
  return Suspension.Actions(
    stop: {
      guard !player.isPaused else { return }
      isPausedHere.isSet.withLock { $0 = true }
      player.pause()
      // The sound in the queue plays to its end before the output pauses.
      for _ in 0..<100 where player.status.output.state == .playing { usleep(10_000) }
      // Let the request to pause reach the sound server.
      usleep(20_000)
    },
    resume: {
      let wasPausedHere = isPausedHere.isSet.withLock { isSet in
        defer { isSet = false }
        return isSet
      }
      if wasPausedHere { player.resume() }
    })
}

private final class SharedFlag: Sendable {
  let isSet = Mutex(false)
}
