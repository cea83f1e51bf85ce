// SPDX-License-Identifier: Apache-2.0

import CRealtime
import CommandOptions
import CommandSupport
import HeadTracking

func trackersWatchCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let source = HeadPoseSource()
  let events = TrackerEvents()
  var recorder: MotionRecorder?
  if let path = command[Options.record] { recorder = try MotionRecorder(path: path) }
  let record = recorder.map { recorder in { @Sendable in recorder.add($0) } }
  let raw = try command[Options.raw].map { (path) throws(CommandFailure) in try RawRecorder(path) }
  let tracker = try LiveTracker.start(
    command[Arguments.trackerID], command, feeding: source, events: events.add,
    onSilence: events.add(note:), record: record, capture: raw?.capture)
  let flush = { () throws(CommandFailure) in
    try recorder?.flush()
    try raw?.flush()
  }
  let result = Result { () throws(CommandFailure) in try watch(source, events, flush) }
  tracker.stop()
  try flush()
  if let recorder { printNote(recorder.summary) }
  try result.get()
}

/// Shows the pose and calls `flush` at regular intervals, until a signal or the key `q` ends the
/// command.
private func watch(
  _ source: HeadPoseSource, _ events: TrackerEvents,
  _ flush: () throws(CommandFailure) -> Void
) throws(CommandFailure) {
  let console = Console()
  let start = monotonic_nanoseconds()
  try follow(
    source, events, on: console, every: console.isInteractive ? 50_000_000 : 100_000_000
  ) { now throws(CommandFailure) in
    try flush()
    let pose = source.pose(at: now)
    let line = PoseLine(pose: pose, status: source.status(now: now))
    if console.isInteractive {
      console.show(line.forPeople)
    } else if let text = line.plain(seconds: Double(now - start) * 1e-9) {
      try printOutput(text + "\n")
    }
  }
}
