// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import Synchronization

/// Keeps the queue of a stream full, deep enough and, where the source can render again, current.
///
/// What a server asks for at a time is usually also how far its sink reads ahead. Where it can be
/// told to ask seldom and read little ahead, the audio thread is woken for the head alone, and
/// writes what is missing while it is awake.
///
/// ## Threading
/// As `OutputSession`.
final class OutputQueue {
  private static let flushSettles: Int64 = 300_000_000
  private static let beginning: Int64 = 2_500_000_000
  /// From the first sound of a stream on.
  private static let settling: Int64 = 500_000_000

  let stream: OutputStream
  private let loop: ThreadedLoop
  var fill: QueueFill
  var schedule = RewriteSchedule()
  var question = TimingQuestion()
  var judge = RewriteJudge()
  /// Set when the queue may have room that the server will not ask to fill.
  var isFeedDue = false
  /// A flush empties the queue on purpose.
  private var underrunsCountFrom: Int64 = 0
  /// A stream that begins fills an empty queue, and a null sink takes two seconds to begin.
  private(set) var lowCountsFrom: Int64 = 0

  init(of stream: OutputStream, loop: ThreadedLoop) {
    self.stream = stream
    self.loop = loop
    fill = QueueFill(sampleRate: stream.configuration.sampleRate)
  }

  // MARK: What befalls the stream

  /// Ignores a low queue for a while: the stream begins to move.
  func noteBeginning(now: Int64) { lowCountsFrom = now + Self.beginning }

  /// Empties the queue.
  func flush() {
    let now = monotonic_nanoseconds()
    underrunsCountFrom = now + Self.flushSettles
    noteBeginning(now: now)
    forgetTiming()
    schedule.clear()
    isFeedDue = true
    stream.flush()
  }

  func ranDry() {
    stream.renderer.pointee.clock.relock()
    guard stream.flow.isRequestDue, monotonic_nanoseconds() >= underrunsCountFrom else { return }
    let total = stream.counters.pointee.underruns.add(1, ordering: .relaxed).newValue
    stream.board.post(.underrun(total: total))
    stream.adaptDepth { $0.ranLow(now: monotonic_nanoseconds()) }
  }

  /// A null sink is two seconds deep until it starts, and what it then takes at once leaves little.
  func started() {
    lowCountsFrom = max(lowCountsFrom, monotonic_nanoseconds() + Self.settling)
    stream.renderer.pointee.clock.relock()
    stream.renderer.pointee.overwriter.margin.forgetReports()
  }

  // MARK: Steps

  /// At every tick: feeds the queue, asks for the time and adapts the depth.
  func attend(_ now: Int64) {
    if isFeedDue {
      isFeedDue = false
      feed(ifMissing: 0)
    }
    let isAskedOften = stream.board.draft.isLatencyApproximate
    if stream.flow.isRequestDue, isQuestionDue(now, always: isAskedOften) { askTiming() }
    setAlarm()
    let least = stream.renderer.pointee.leastQueued
    stream.renderer.pointee.leastQueued = .max
    if least < Int64(stream.depth.milliseconds * 1e6) / 5, now >= lowCountsFrom {
      stream.adaptDepth { $0.ranLow(now: monotonic_nanoseconds()) }
    }
    stream.adaptDepth { $0.pass(now: now) }
  }

  /// Does what was put off until this time.
  func alarmed() {
    attendRewriting()
    topUp(isAwake: false)
    setAlarm()
  }

  /// Sets the alarm to whatever is due next.
  func setAlarm() {
    let next = min(schedule.dueTime ?? .max, topUpTime ?? .max)
    if next < .max { loop.setAlarm(at: next) }
  }
}
