// SPDX-License-Identifier: Apache-2.0

import CRealtime
import CommandOptions
import HeadTracking
import NetworkTracking

/// `stillstage trackers bridge ID URL`
func trackersBridgeCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let name = command[Options.bridgePreset]
  guard let preset = OSCPreset(rawValue: name) else {
    let known = OSCPreset.allCases.map(\.rawValue).joined(separator: ", ")
    throw .usage("there is no preset '\(name)'; there are: \(known)")
  }
  let sender: OSCSender
  do throws(NetworkTrackerError) {
    sender = try OSCSender(command[Arguments.bridgeTarget])
  } catch { throw .usage(error.description) }
  let source = HeadPoseSource()
  let events = TrackerEvents()
  let tracker = try LiveTracker.start(
    command[Arguments.trackerID], command, feeding: source, events: events.add)
  defer { tracker.stop() }
  try bridge(source, events, to: sender, preset, hertz: command[Options.bridgeRate])
}

/// Sends the pose of the present moment until a signal or the key `q` ends it.
private func bridge(
  _ source: HeadPoseSource, _ events: TrackerEvents, to sender: OSCSender, _ preset: OSCPreset,
  hertz: Double
) throws(CommandFailure) {
  let console = Console()
  defer {
    console.clear()
    console.restore()
  }
  let interval = Int64(1e9 / hertz)
  var next = monotonic_nanoseconds()
  var failures = 0
  while true {
    let wait = max(0, min(50, (next - monotonic_nanoseconds()) / 1_000_000))
    for key in console.keys(waitMilliseconds: Int32(wait)) {
      if key == .recenter { source.recenter() }
      if key == .quit { return }
    }
    if Signals.received != nil { throw .interrupted }
    for text in events.take() {
      console.clear()
      printNote(text)
    }
    let now = monotonic_nanoseconds()
    guard now >= next else { continue }
    next = max(next + interval, now)
    let pose = source.pose(at: now)
    // Before the first sample there is nothing to say.
    guard source.status.freshness != .waiting else { continue }
    let isSent = sender.send(preset.message(for: pose))
    failures = isSent ? 0 : failures + 1
    if failures == 1 { printNote("nobody takes the messages; they are sent on") }
  }
}
