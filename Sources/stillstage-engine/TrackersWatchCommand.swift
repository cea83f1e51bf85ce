// SPDX-License-Identifier: Apache-2.0

import CRealtime
import CommandOptions
import Glibc
import HeadTracking
import Synchronization

/// `stillstage trackers watch ID`
func trackersWatchCommand(_ command: ParsedCommand) throws(CommandFailure) {
  let id = command[Arguments.trackerID]
  do throws(HeadTrackingError) {
    let tracker = try TrackerList.current().match(id)
    if let error = tracker.accessError { throw error }
  } catch { throw CommandFailure(error.description) }
  let source = HeadPoseSource()
  let events = TrackerEvents()
  let session = TrackerSession(
    .id(id), feeding: source, onEvent: { events.add($0) }, calibration: userCalibration)
  session.start()
  defer { session.stop() }
  try watch(source, events)
}

/// Shows the pose until a signal or the key `q` ends it.
private func watch(_ source: HeadPoseSource, _ events: TrackerEvents) throws(CommandFailure) {
  let console = Console()
  defer {
    console.clear()
    console.restore()
  }
  let start = monotonic_nanoseconds()
  let interval: Int64 = console.isInteractive ? 50_000_000 : 100_000_000
  var next = start + interval
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
    let line = PoseLine(pose: pose, status: source.status(now: now))
    if console.isInteractive {
      console.show(line.forPeople)
    } else if let text = line.plain(seconds: Double(now - start) * 1e-9) {
      try printOutput(text + "\n")
    }
  }
}

/// What happens to the tracker, from its thread to the one that prints.
private final class TrackerEvents: Sendable {
  private let texts = Mutex<[String]>([])

  func add(_ event: TrackerEvent) {
    guard let text = Self.text(event) else { return }
    texts.withLock { $0.append(text) }
  }

  func take() -> [String] {
    texts.withLock { texts in
      defer { texts = [] }
      return texts
    }
  }

  private static func text(_ event: TrackerEvent) -> String? {
    switch event {
    case .waiting: nil
    case .connected(let tracker): "\(tracker.name) (\(tracker.id)) is connected"
    case .lost(let tracker): "\(tracker.name) (\(tracker.id)) is gone; waiting for it"
    case .discontinuity: "the tracker's reference frame jumped; the pose goes on"
    case .failed(let error): error.description
    }
  }
}
