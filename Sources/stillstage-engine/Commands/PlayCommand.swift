// SPDX-License-Identifier: Apache-2.0

import AudioMix
import Binaural
import CommandOptions
import CommandSupport
import Glibc
import HeadTracking
import Media
import NetworkTracking
import Playback
import Rendering
import SoundSources

func playCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let notes = TrackerEvents()
  let network = try playedNetworkTracker(command, onSilence: notes.add(note:))
  defer { network?.session.stop() }
  var options = try playerOptions(command, network)
  options.render = try RenderSettings(command)
  options.render.loudness = command[Options.playLoudness].target
  options.mode = StageMode(command[Options.mode])
  options.rewriting = rewriting(command[Options.rewrite])
  let fronts = FrontStore(isKept: command[Options.keepFront])
  options.fronts = fronts.read()
  let settings = options.render
  try refuseOverwriting(
    [command[Arguments.input], settings.hrtfPath, command[Options.motion]],
    by: [command[Options.events]])
  let input = try SoundInput(command, settings, follows: true)
  // Finish the input even if playback is interrupted or fails.
  defer { input.finish() }
  let events = try EventLog(path: command[Options.events])
  var display = PlayDisplay()
  display.isQuiet = command[Options.playQuiet]
  display.isFullScreen = command[Options.screen] == .full
  display.head = headText(command, options, network)
  display.awaited = network?.session.tracker.text
  var opened: (any SoundSource)?
  try play(
    options, events: events, sets: HRTFChoices(command), notes: notes,
    pausesOnRemoval: command[Options.pauseOnRemoval], display: display,
    atEnd: { fronts.keep($0.front) },
    source: { rate, display throws(PlaybackError) in
      let source = try input.open(rate)
      opened = source
      display.source = SourceFacts(source)
      if let note = mixNote(source, settings) { printNote(note) }
      return source
    })
  try input.requireWhole(opened)
}

/// Returns the options for the output and the trackers.
///
/// - Parameter network: the network tracker that supplies the head pose; nil for none.
func playerOptions(
  _ command: ParsedCommand, _ network: PlayedNetworkTracker?
) throws(CommandFailure) -> PlayerOptions {
  var options = PlayerOptions()
  options.interrupt = Signals.interrupt
  options.output = OutputChoice(command[Options.soundServer])
  options.sinkName = command[Options.sink]
  options.route = try routePolicy(command)
  if case .milliseconds(let depth) = command[Options.latency] {
    options.latencyMilliseconds = depth
  }
  options.trackerSettings = try trackerSettings(command, tracker: command[Options.tracker].id)
  options.calibration = userCalibration
  if let network {
    options.head = .source(network.source)
  } else {
    options.head = try headChoice(command, options.trackerSettings)
  }
  options.deviceTracker = try deviceTracker(command, options.trackerSettings)
  options.prediction = HeadPrediction(command[Options.predict])
  return options
}

typealias PlayedNetworkTracker = (source: HeadPoseSource, session: NetworkTrackerSession)

private func rewriting(_ choice: RewriteChoice) -> RewritingChoice {
  switch choice {
  case .auto: .automatic
  case .on: .always
  case .off: .never
  }
}

/// Starts and returns the network tracker that the command names. Returns nil if the command names
/// none or uses a recorded motion.
///
/// - Parameter onSilence: called with a note if no message arrives within 5 s of the start, or if
///   no pose arrives within 1 s of the first message without a pose.
func playedNetworkTracker(
  _ command: ParsedCommand, onSilence: @escaping @Sendable (String) -> Void = { printNote($0) }
) throws(CommandFailure) -> PlayedNetworkTracker? {
  let wantsTracker = command.isGiven(Options.tracker) || command[Options.motion] == nil
  guard case .id(let id) = command[Options.tracker], wantsTracker,
    !command.isGiven(Options.motion), let tracker = try networkTracker(id, command)
  else { return nil }
  let source = HeadPoseSource()
  let session = NetworkTrackerSession(tracker, feeding: source, onSilence: onSilence)
  do throws(NetworkTrackerError) { try session.start() } catch {
    throw CommandFailure(error.description)
  }
  return (source, session)
}

private func headChoice(
  _ command: ParsedCommand, _ settings: TrackerSettings
) throws(CommandFailure) -> HeadChoice {
  // A tracker on the command line takes precedence over a recording among the user's defaults.
  let wantsTracker = command.isGiven(Options.tracker) && !command.isGiven(Options.motion)
  if !wantsTracker, let trajectory = try recordedHead(command) { return .recorded(trajectory) }
  let device = command[Options.deviceTracker]
  switch command[Options.tracker] {
  case .auto:
    guard let device else { return .automatic }
    return .tracker(try tracker(nil, beside: device, settings))
  case .none: return .none
  case .id(let id): return .tracker(try tracker(id, beside: device, settings))
  }
}

/// Returns the ID that `--device-tracker` names; nil if the option is not set. Throws an error if
/// the ID names a network tracker, or does not match exactly one connected tracker.
private func deviceTracker(
  _ command: ParsedCommand, _ settings: TrackerSettings
) throws(CommandFailure) -> String? {
  guard let id = command[Options.deviceTracker] else { return nil }
  guard try networkTracker(id, command) == nil else {
    throw .usage(
      "--device-tracker does not accept network trackers; "
        + "name '\(id)' with --tracker instead")
  }
  _ = try matchedTracker(id, settings)
  return id
}

/// Returns the ID of the head's tracker: `id` or, if `id` is nil, the first tracker other than the
/// device's. Throws an error if there is no such tracker, if `id` or `device` does not match
/// exactly one tracker, or if both match the same one.
private func tracker(
  _ id: String?, beside device: String?, _ settings: TrackerSettings
) throws(CommandFailure) -> String {
  let named = try id.map { (id) throws(CommandFailure) in try matchedTracker(id, settings) }
  guard let device else { return id ?? "" }
  let list = TrackerList.current(settings)
  do throws(HeadTrackingError) {
    let taken = try list.match(device)
    let free = named ?? list.trackers.first { $0.path != taken.path }
    if let free, free.path != taken.path { return id ?? free.id }
  } catch { throw CommandFailure(error.description) }
  throw CommandFailure(
    id == nil
      ? "no second tracker is connected for the head; connect one, or name a network tracker with "
        + "--tracker ID"
      : "--tracker and --device-tracker name the same tracker; name two different trackers")
}

extension StageMode {
  init(_ choice: StageModeChoice) {
    switch choice {
    case .tracked: self = .tracked
    case .fixed: self = .fixed
    case .off: self = .off
    }
  }
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
