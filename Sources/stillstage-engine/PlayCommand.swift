// SPDX-License-Identifier: Apache-2.0

import Binaural
import CommandOptions
import Glibc
import HeadTracking
import Media
import Playback

/// `stillstage play INPUT`
func playCommand(_ command: ParsedCommand) throws(CommandFailure) {
  var options = PlayerOptions()
  options.interrupt = Signals.interrupt
  options.render = try RenderSettings(command)
  options.mode = StageMode(rawValue: command[Options.mode].rawValue) ?? .tracked
  options.sinkName = command[Options.sink]
  if case .milliseconds(let depth) = command[Options.latency] {
    options.latencyMilliseconds = depth
  }
  options.head = try headChoice(command)
  options.calibration = userCalibration
  let path = command[Arguments.input]
  let settings = options.render
  try refuseOverwriting(
    [path, settings.hrtfPath, command[Options.motion]], by: [command[Options.events]])
  try checkReadable(path, settings)
  try play(
    options, events: EventLog(path: command[Options.events]), sets: HRTFChoices(command)
  ) { rate throws(PlaybackError) in
    try FileSource(
      path: path, settings: settings, sampleRate: rate, interrupt: Signals.interrupt)
  }
}

/// A file that cannot be played is told of before a sound server is asked for.
private func checkReadable(_ path: String, _ settings: RenderSettings) throws(CommandFailure) {
  _ = try playing { () throws(PlaybackError) in
    try FileSource(path: path, settings: settings, interrupt: Signals.interrupt)
  }
}

private func headChoice(_ command: ParsedCommand) throws(CommandFailure) -> HeadChoice {
  // A tracker on the command line wins over a recording among the user's defaults.
  let wantsTracker = command.isGiven(Options.tracker) && !command.isGiven(Options.motion)
  if !wantsTracker, let trajectory = try recordedHead(command) { return .recorded(trajectory) }
  switch command[Options.tracker] {
  case .auto: return .automatic
  case .none: return .none
  case .id(let id):
    do throws(HeadTrackingError) {
      _ = try TrackerList.current().match(id)
    } catch { throw CommandFailure(error.description) }
    return .tracker(id)
  }
}

/// Plays a source to its end, or until the listener or a signal ends it.
func play(
  _ options: PlayerOptions, events: EventLog,
  sets: HRTFChoices = HRTFChoices(), source: (Int) throws(PlaybackError) -> any SoundSource
) throws(CommandFailure) {
  let player = try playing { () throws(PlaybackError) in
    try Player(options: options, makeSource: source)
  }
  for note in player.notes { printNote(note) }
  try playing { () throws(PlaybackError) in try player.start() }
  let console = Console()
  let reporter = PlayerReporter(player: player, console: console, events: events)
  var wantsToEnd = false
  while !wantsToEnd, !player.isFinished, Signals.received == nil {
    for key in console.keys(waitMilliseconds: 50) where player.obey(key, sets: sets) {
      wantsToEnd = true
    }
    reporter.report()
  }
  player.stop()
  reporter.report()
  reporter.end()
  if Signals.received != nil { throw .interrupted }
}

extension Player {
  /// Does what a key asks for; true for the end.
  fileprivate func obey(_ key: Console.Key, sets: HRTFChoices) -> Bool {
    switch key {
    case .pause: isPaused ? resume() : pause()
    case .back: skip(bySeconds: -10)
    case .forward: skip(bySeconds: 10)
    case .louder: volume *= 1.1220184543019633
    case .softer: volume /= 1.1220184543019633
    case .recenter: recenter()
    case .mode: mode = mode.next
    case .decoder: decodeOtherwise { $0.method = $0.method.next }
    case .hrtf: decodeOtherwise { $0.hrtfPath = sets.next(after: $0.hrtfPath) }
    case .order(let order): decodeOtherwise { $0.busOrder = order }
    case .quit: return true
    }
    return false
  }

  private func decodeOtherwise(_ change: (inout RenderSettings) -> Void) {
    var settings = decoding
    change(&settings)
    decode(by: settings)
  }
}

extension DecoderDesign.Method {
  fileprivate var next: Self {
    let all = Self.allCases
    return all[((all.firstIndex(of: self) ?? 0) + 1) % all.count]
  }
}
