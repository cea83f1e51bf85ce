// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import Glibc
import HeadTracking
import Media
import Playback

/// `stillstage play INPUT`
func playCommand(_ command: ParsedCommand) throws(CommandFailure) {
  var options = PlayerOptions()
  options.render = try RenderSettings(command)
  options.mode = StageMode(rawValue: command[Options.mode].rawValue) ?? .tracked
  options.sinkName = command[Options.sink]
  if case .milliseconds(let depth) = command[Options.latency] {
    options.latencyMilliseconds = depth
  }
  options.head = try headChoice(command)
  options.deviceTracker = command[Options.deviceTracker]
  options.prediction = HeadPrediction(command[Options.predict])
  let fronts = FrontStore(isKept: command[Options.keepFront])
  options.fronts = fronts.read()
  let path = command[Arguments.input]
  let settings = options.render
  try refuseOverwriting(
    [path, settings.hrtfPath, command[Options.motion]], by: [command[Options.events]])
  try checkReadable(path, settings)
  let events = try EventLog(path: command[Options.events])
  let open = { (rate: Int) throws(PlaybackError) -> any SoundSource in
    try FileSource(
      path: path, settings: settings, sampleRate: rate, interrupt: Signals.interrupt)
  }
  try play(options, events: events, atEnd: { fronts.keep($0.front) }, source: open)
}

/// A file that cannot be played is told of before a sound server is asked for.
private func checkReadable(_ path: String, _ settings: RenderSettings) throws(CommandFailure) {
  _ = try playing { () throws(PlaybackError) in
    try FileSource(path: path, settings: settings, interrupt: Signals.interrupt)
  }
}

private func headChoice(_ command: ParsedCommand) throws(CommandFailure) -> HeadChoice {
  if let trajectory = try recordedHead(command) { return .recorded(trajectory) }
  let device = command[Options.deviceTracker]
  switch command[Options.tracker] {
  case .auto:
    guard let device else { return .automatic }
    return .tracker(try tracker(nil, beside: device))
  case .none: return .none
  case .id(let id): return .tracker(try tracker(id, beside: device))
  }
}

/// The head's tracker as it is to be asked for: the one that is named, or the first that is not the
/// device's.
private func tracker(_ id: String?, beside device: String?) throws(CommandFailure) -> String {
  let list = TrackerList.current()
  do throws(HeadTrackingError) {
    let named = try id.map { (id) throws(HeadTrackingError) in try list.match(id) }
    guard let device else { return id ?? "" }
    let taken = try list.match(device)
    let free = named ?? list.trackers.first { $0.path != taken.path }
    if let free, free.path != taken.path { return id ?? free.id }
  } catch { throw CommandFailure(error.description) }
  throw CommandFailure(
    id == nil
      ? "there is no second tracker for the head; connect one, or name it with --tracker ID"
      : "--tracker and --device-tracker name the same tracker; name two")
}

/// Plays a source to its end, or until the listener or a signal ends it.
func play(
  _ options: PlayerOptions, events: EventLog, atEnd: (Player) -> Void = { _ in },
  source: (Int) throws(PlaybackError) -> any SoundSource
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
    for key in console.keys(waitMilliseconds: 50) where player.obey(key) { wantsToEnd = true }
    reporter.report()
  }
  player.stop()
  atEnd(player)
  reporter.report()
  reporter.end()
  if Signals.received != nil { throw .interrupted }
}

extension HeadPrediction {
  fileprivate init(_ choice: PredictChoice) {
    switch choice {
    case .auto: self = .automatic
    case .off: self = .off
    case .milliseconds(let milliseconds): self = .milliseconds(milliseconds)
    }
  }
}

extension Player {
  /// Does what a key asks for; true for the end.
  fileprivate func obey(_ key: Console.Key) -> Bool {
    switch key {
    case .pause: isPaused ? resume() : pause()
    case .back: skip(bySeconds: -10)
    case .forward: skip(bySeconds: 10)
    case .louder: volume *= 1.1220184543019633
    case .softer: volume /= 1.1220184543019633
    case .recenter: recenter()
    case .mode: mode = mode.next
    case .quit: return true
    }
    return false
  }
}
