// SPDX-License-Identifier: Apache-2.0

import CRealtime
import HeadTracking

/// An open MIDI tracker: a port and the protocol on it.
struct MIDIConnection: TrackerConnection {
  private let session: Session
  private var parser = MIDIParser()
  private var tracker: any MIDITrackerProtocol
  /// When the latest message arrived or, before the first, when the tracker was opened, in
  /// CLOCK_MONOTONIC nanoseconds.
  private var heard: Int64
  private var newest: HeadSample?
  /// The first bytes, if they arrived while the tracker was being opened; nil once `listen` has
  /// taken them.
  private var early: MIDIInput?
  /// When delayed start messages are due, in CLOCK_MONOTONIC nanoseconds; nil if none are pending.
  private var startDue: Int64?
  private var keepAliveDue = Int64.max

  /// Nanoseconds without a sample after which the pose is repeated if the tracker is allowed to be
  /// silent.
  private static let repetition: Int64 = 40_000_000

  /// Sends the stop messages when it is released, unless they were sent before.
  private final class Session {
    let link: any MIDILink
    private var stopMessages: [[UInt8]]

    init(_ link: any MIDILink, _ stopMessages: [[UInt8]]) {
      (self.link, self.stopMessages) = (link, stopMessages)
    }

    deinit { stop() }

    func stop() {
      for message in stopMessages { try? link.write(message) }
      stopMessages = []
    }
  }

  /// Starts the tracker, or schedules its start messages if they have a delay. Then waits for the
  /// first bytes of a tracker that must not be silent.
  init(_ link: any MIDILink, _ tracker: any MIDITrackerProtocol) throws(MIDIError) {
    session = Session(link, tracker.stopMessages)
    self.tracker = tracker
    heard = monotonic_nanoseconds()
    if tracker.startDelay > 0 {
      startDue = heard + tracker.startDelay
    } else {
      for message in tracker.startMessages { try link.write(message) }
      keepAliveDue = heard
    }
    guard let limit = tracker.silenceLimit else { return }
    early = try Self.first(link, until: heard + limit)
    heard = monotonic_nanoseconds()
  }

  /// Waits for the first bytes. A call of `read` can end early without bytes, for example when the
  /// sequencer announces a change.
  private static func first(_ link: any MIDILink, until end: Int64) throws(MIDIError) -> MIDIInput {
    var now = monotonic_nanoseconds()
    while now < end {
      switch link.read(timeoutNanoseconds: end - now) {
      case .nothing: now = monotonic_nanoseconds()
      case .gone: throw MIDIError(reason: "its MIDI port is gone; reconnect the tracker")
      case .bytes(let bytes): return .bytes(bytes)
      }
    }
    throw MIDIError(reason: "it does not answer; reconnect the tracker")
  }

  var keepsReference: Bool { false }
  /// True, because a restart after silence is never needed: some trackers are silent while they
  /// keep still, and any other silent tracker counts as lost.
  var restartsItself: Bool { true }

  mutating func restart() {}

  mutating func close() { session.stop() }

  /// Sends the start and keep-alive messages that are due.
  private mutating func sendDue() {
    let now = monotonic_nanoseconds()
    if let due = startDue, now >= due {
      for message in tracker.startMessages { try? session.link.write(message) }
      (startDue, keepAliveDue) = (nil, now)
    }
    guard let keepAlive = tracker.keepAlive, now >= keepAliveDue else { return }
    for message in keepAlive.messages { try? session.link.write(message) }
    keepAliveDue = now + keepAlive.period
  }

  mutating func listen(timeoutMilliseconds: Int) -> TrackerNews {
    sendDue()
    let input = early ?? session.link.read(timeoutNanoseconds: patience(timeoutMilliseconds))
    early = nil
    let now = monotonic_nanoseconds()
    switch input {
    case .gone: return .gone
    case .nothing:
      if let limit = tracker.silenceLimit, now - heard > limit { return .gone }
      return news([], 0, now)
    case .bytes(let bytes):
      let (messages, rejected) = parser.parse(bytes)
      if !messages.isEmpty { heard = now }
      return news(messages, rejected, now)
    }
  }

  /// Returns how long to wait for bytes, in nanoseconds.
  private func patience(_ milliseconds: Int) -> Int64 {
    let now = monotonic_nanoseconds()
    var end = now + Int64(milliseconds) * 1_000_000
    if let due = tracker.due { end = min(end, due) }
    if let newest, tracker.silenceLimit == nil { end = min(end, newest.time + Self.repetition) }
    return max(0, end - now)
  }

  private mutating func news(
    _ messages: [MIDIMessage], _ damaged: Int, _ now: Int64
  ) -> TrackerNews {
    var rejected = damaged
    var readings: [TrackerReading] = []
    for message in messages {
      if let found = tracker.decode(message, arrival: now) {
        readings += found
      } else {
        rejected += 1
      }
    }
    if let found = tracker.advance(now: now) { readings += found } else { rejected += 1 }
    let kept = readings.indices.filter { isNewest($0, readings) }.map { inOrder(readings[$0]) }
    let all = kept + repeated(now)
    return all.isEmpty && rejected == 0 ? .nothing : .readings(all, rejected: rejected)
  }

  /// Returns whether to use a reading. Of the orientations that arrived together, only the newest
  /// is used.
  private func isNewest(_ index: Int, _ readings: [TrackerReading]) -> Bool {
    guard case .head = readings[index] else { return true }
    return !readings[(index + 1)...].contains { if case .head = $0 { true } else { false } }
  }

  /// Ensures that the time of an orientation is later than that of the previous one, which may be a
  /// repetition.
  private mutating func inOrder(_ reading: TrackerReading) -> TrackerReading {
    guard case .head(var sample) = reading else { return reading }
    if let newest { sample.time = max(sample.time, newest.time + 1) }
    newest = sample
    return .head(sample)
  }

  /// Repeats the pose of a tracker that is silent while it keeps still.
  private mutating func repeated(_ now: Int64) -> [TrackerReading] {
    guard var sample = newest, tracker.silenceLimit == nil, tracker.due == nil,
      now >= sample.time + Self.repetition
    else { return [] }
    sample.time = now
    sample.angularVelocity = nil
    newest = sample
    return [.head(sample)]
  }
}
