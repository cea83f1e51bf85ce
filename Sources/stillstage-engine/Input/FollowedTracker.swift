// SPDX-License-Identifier: Apache-2.0

import CRealtime
import CommandSupport
import HeadTracking
import Synchronization

/// Calls `step` at regular intervals and prints the tracker's events, until a signal or the key `q`
/// ends the command. The key `c` recentres.
///
/// - Parameters:
///   - interval: the time between steps, in nanoseconds.
///   - step: receives the current CLOCK_MONOTONIC time, in nanoseconds.
func follow(
  _ source: HeadPoseSource, _ events: TrackerEvents, on console: Console, every interval: Int64,
  step: (_ now: Int64) throws(CommandFailure) -> Void
) throws(CommandFailure) {
  defer {
    console.clear()
    console.restore()
  }
  var next = monotonic_nanoseconds() + interval
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
    try step(now)
  }
}

/// Messages about the tracker, passed between threads.
final class TrackerEvents: Sendable {
  private let texts = Mutex<[String]>([])

  @Sendable func add(_ event: TrackerEvent) {
    if let text = Self.text(event) { add(note: text) }
  }

  @Sendable func add(note: String) { texts.withLock { $0.append(note) } }

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
    case .lost(let tracker): "\(tracker.name) (\(tracker.id)) was disconnected; waiting for it"
    case .newFront: "the direction that the tracker faces now becomes the front"
    case .discontinuity: "the tracker's reference frame jumped; the yaw is kept"
    case .recentered: "the tracker's button recentred the stage"
    case .worn(true): "the earphones are being worn"
    case .worn(false): "the earphones are not being worn; the pose is held"
    case .failed(let error): error.description
    }
  }
}
