// SPDX-License-Identifier: Apache-2.0

import CRealtime
import CommandOptions
import CommandSupport
import HeadTracking
import NetworkTracking

func trackersBridgeCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let name = command[Options.bridgePreset]
  guard let preset = OSCPreset(rawValue: name) else {
    let known = OSCPreset.allCases.map(\.rawValue).joined(separator: ", ")
    throw .usage("unknown preset '\(name)'; choose from: \(known)")
  }
  let sender: OSCSender
  do throws(NetworkTrackerError) {
    sender = try OSCSender(command[Arguments.bridgeTarget])
  } catch .unknownHost(let host) {
    throw CommandFailure(NetworkTrackerError.unknownHost(host).description)
  } catch { throw .usage(error.description) }
  let source = HeadPoseSource()
  let events = TrackerEvents()
  let tracker = try LiveTracker.start(
    command[Arguments.trackerID], command, feeding: source, events: events.add,
    onSilence: events.add(note:))
  defer { tracker.stop() }
  try bridge(source, events, to: sender, preset, hertz: command[Options.bridgeRate])
}

/// Sends the pose `hertz` times per second, from the tracker's first sample on, until a signal or
/// the key `q` ends the command. On a terminal, also shows the pose.
private func bridge(
  _ source: HeadPoseSource, _ events: TrackerEvents, to sender: OSCSender, _ preset: OSCPreset,
  hertz: Double
) throws(CommandFailure) {
  let console = Console()
  var failures = 0
  var shownAt = Int64.min
  try follow(source, events, on: console, every: Int64(1e9 / hertz)) { now in
    let pose = source.pose(at: now)
    if console.isInteractive, now >= shownAt &+ 50_000_000 {
      shownAt = now
      console.show(PoseLine(pose: pose, status: source.status(now: now)).forPeople)
    }
    // Send nothing before the first sample.
    guard source.status.freshness != .waiting else { return }
    let isSent = sender.send(preset.message(for: pose))
    failures = isSent ? 0 : failures + 1
    if failures == 1 {
      console.clear()
      printNote("cannot send to the target; the bridge keeps trying")
    }
  }
}
