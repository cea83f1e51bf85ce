// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import SoundServer
import Synchronization

/// Fills and rewrites a stream's queue, and adapts the queue's depth.
///
/// ## Threading
/// Use an instance on the loop's thread or with the loop's lock held.
final class OutputQueue {
  /// How long underruns are ignored after a flush [ns].
  private static let flushSettles: Int64 = 300_000_000
  /// How long a low queue is ignored after `noteBeginning` [ns].
  private static let beginning: Int64 = 2_500_000_000
  /// How long a low queue is ignored after `started` [ns].
  private static let settling: Int64 = 500_000_000

  let stream: OutputStream
  private let loop: ThreadedLoop
  var fill: QueueFill
  var schedule = RewriteSchedule()
  var question = TimingQuestion()
  var judge = RewriteJudge()
  /// Whether the next call of `attend` fills the queue.
  var isFeedDue = false
  /// The time before which underruns are ignored, in CLOCK_MONOTONIC nanoseconds.
  private var underrunsCountFrom: Int64 = 0
  /// The time before which a low queue and an excessive read-ahead of the sink are ignored, in
  /// CLOCK_MONOTONIC nanoseconds.
  private(set) var lowCountsFrom: Int64 = 0

  init(of stream: OutputStream, loop: ThreadedLoop) {
    self.stream = stream
    self.loop = loop
    fill = QueueFill(sampleRate: stream.configuration.sampleRate)
  }

  // MARK: Stream events

  /// Ignores a low queue for the next 2.5 s.
  func noteBeginning(now: Int64) { lowCountsFrom = now + Self.beginning }

  /// Empties the queue. The next tick fills it again.
  func flush() {
    let now = monotonic_nanoseconds()
    underrunsCountFrom = now + Self.flushSettles
    noteBeginning(now: now)
    forgetTiming()
    schedule.clear()
    isFeedDue = true
    stream.flush()
  }

  /// Relocks the clock. Also counts an underrun and adapts the depth, except shortly after a flush
  /// or while the server is not expected to request audio.
  func ranDry() {
    stream.renderer.pointee.clock.relock()
    guard stream.flow.isRequestDue, monotonic_nanoseconds() >= underrunsCountFrom else { return }
    let total = stream.counters.pointee.underruns.add(1, ordering: .relaxed).newValue
    stream.board.post(.underrun(total: total))
    stream.adaptDepth { $0.ranLow(now: monotonic_nanoseconds()) }
  }

  /// Discards the latency reports from before the server started to play, and relocks the clock.
  /// Ignores a low queue for at least 0.5 s, because a null sink takes most of the queue at once.
  func started() {
    lowCountsFrom = max(lowCountsFrom, monotonic_nanoseconds() + Self.settling)
    stream.renderer.pointee.clock.relock()
    stream.renderer.pointee.overwriter.margin.forgetReports()
  }

  // MARK: Steps

  /// Fills the queue and requests a timing report, if either is due. Sets the next alarm, and
  /// adapts the depth.
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

  /// Rewrites and tops up the queue, if due. Sets the next alarm.
  func alarmed() {
    attendRewriting()
    topUp(isAwake: false)
    setAlarm()
  }

  /// Sets the alarm to the next rewrite or top-up. Does nothing if neither is planned.
  func setAlarm() {
    let next = min(schedule.dueTime ?? .max, topUpTime ?? .max)
    if next < .max { loop.setAlarm(at: next) }
  }
}
