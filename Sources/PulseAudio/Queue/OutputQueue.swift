// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import SoundServer
import Synchronization

/// Fills a stream's queue, adapts the queue's depth, and rewrites the queue if the source can
/// render it again.
///
/// The size of a server's requests usually also determines how far its sink reads ahead. If the
/// server supports large requests together with a short read-ahead, the audio thread wakes mainly
/// for head motion, and tops up the queue while it is awake.
///
/// ## Threading
/// Same rules as for `OutputSession`: use it on the loop's thread or with the loop's lock held.
final class OutputQueue {
  /// Time after a flush for which underruns are ignored [ns].
  private static let flushSettles: Int64 = 300_000_000
  /// Time after a stream begins to play for which a low queue is ignored [ns].
  private static let beginning: Int64 = 2_500_000_000
  /// Time after the server starts to play a stream for which a low queue is ignored [ns].
  private static let settling: Int64 = 500_000_000

  let stream: OutputStream
  private let loop: ThreadedLoop
  var fill: QueueFill
  var schedule = RewriteSchedule()
  var question = TimingQuestion()
  var judge = RewriteJudge()
  /// Whether the queue may have free space that the server will not ask to fill.
  var isFeedDue = false
  /// Time before which underruns are ignored, because a flush empties the queue on purpose [ns].
  private var underrunsCountFrom: Int64 = 0
  /// Time before which a low queue is ignored [ns]. A new stream begins with an empty queue, and a
  /// null sink takes two seconds to start.
  private(set) var lowCountsFrom: Int64 = 0

  init(of stream: OutputStream, loop: ThreadedLoop) {
    self.stream = stream
    self.loop = loop
    fill = QueueFill(sampleRate: stream.configuration.sampleRate)
  }

  // MARK: Stream events

  /// Ignores a low queue for 2.5 s because playback is starting or restarting.
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

  /// Handles an underrun: counts and reports it, and adapts the depth. Underruns are ignored
  /// shortly after a flush and while the stream is paused, draining, drained or suspended.
  func ranDry() {
    stream.renderer.pointee.clock.relock()
    guard stream.flow.isRequestDue, monotonic_nanoseconds() >= underrunsCountFrom else { return }
    let total = stream.counters.pointee.underruns.add(1, ordering: .relaxed).newValue
    stream.board.post(.underrun(total: total))
    stream.adaptDepth { $0.ranLow(now: monotonic_nanoseconds()) }
  }

  /// Handles the start of playback. A low queue is ignored for a while: a null sink has a latency
  /// of two seconds until it starts, and then takes so much audio at once that little remains
  /// queued.
  func started() {
    lowCountsFrom = max(lowCountsFrom, monotonic_nanoseconds() + Self.settling)
    stream.renderer.pointee.clock.relock()
    stream.renderer.pointee.overwriter.margin.forgetReports()
  }

  // MARK: Steps

  /// Feeds the queue if that is due, requests a timing report if that is due, and adapts the depth.
  /// Called at every tick while the stream runs.
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

  /// Rewrites and tops up the queue if these tasks are due, and sets the next alarm.
  func alarmed() {
    attendRewriting()
    topUp(isAwake: false)
    setAlarm()
  }

  /// Sets the alarm to the next rewrite or top-up, whichever is earlier. Does nothing if neither is
  /// planned.
  func setAlarm() {
    let next = min(schedule.dueTime ?? .max, topUpTime ?? .max)
    if next < .max { loop.setAlarm(at: next) }
  }
}
