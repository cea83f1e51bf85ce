// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import Synchronization

/// Keeps a stream's queue full, deep enough and, if the source can render again, up to date.
///
/// A server's request size usually also sets how far its sink reads ahead. If the server supports
/// large requests together with a short read-ahead, the audio thread wakes only for head motion and
/// tops the queue up while it is awake.
///
/// ## Threading
/// Same as `OutputSession`.
final class OutputQueue {
  /// Underruns are ignored for this time after a flush [ns].
  private static let flushSettles: Int64 = 300_000_000
  /// A low queue is ignored for this time after a stream begins to move [ns].
  private static let beginning: Int64 = 2_500_000_000
  /// A low queue is ignored for this time after the server starts to play a stream [ns].
  private static let settling: Int64 = 500_000_000

  let stream: OutputStream
  private let loop: ThreadedLoop
  var fill: QueueFill
  var schedule = RewriteSchedule()
  var question = TimingQuestion()
  var judge = RewriteJudge()
  /// Set when the queue may have space that the server will not ask to fill.
  var isFeedDue = false
  /// Underruns before this time are ignored, because a flush empties the queue on purpose.
  private var underrunsCountFrom: Int64 = 0
  /// A low queue before this time is ignored: a new stream fills an empty queue, and a null sink
  /// takes two seconds to start.
  private(set) var lowCountsFrom: Int64 = 0

  init(of stream: OutputStream, loop: ThreadedLoop) {
    self.stream = stream
    self.loop = loop
    fill = QueueFill(sampleRate: stream.configuration.sampleRate)
  }

  // MARK: Stream events

  /// Ignores a low queue for a while because playback is starting or restarting.
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

  /// Counts an underrun, except shortly after a flush, and adapts the depth.
  func ranDry() {
    stream.renderer.pointee.clock.relock()
    guard stream.flow.isRequestDue, monotonic_nanoseconds() >= underrunsCountFrom else { return }
    let total = stream.counters.pointee.underruns.add(1, ordering: .relaxed).newValue
    stream.board.post(.underrun(total: total))
    stream.adaptDepth { $0.ranLow(now: monotonic_nanoseconds()) }
  }

  /// Handles the start of playback. A null sink is two seconds deep until it starts, and the audio
  /// that it then takes at once leaves little in the queue.
  func started() {
    lowCountsFrom = max(lowCountsFrom, monotonic_nanoseconds() + Self.settling)
    stream.renderer.pointee.clock.relock()
    stream.renderer.pointee.overwriter.margin.forgetReports()
  }

  // MARK: Steps

  /// Feeds the queue, requests a timing report and adapts the depth. Called at every tick.
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

  /// Performs the tasks that are due: rewriting and topping up.
  func alarmed() {
    attendRewriting()
    topUp(isAwake: false)
    setAlarm()
  }

  /// Sets the alarm to the next rewrite or top-up, whichever is earlier.
  func setAlarm() {
    let next = min(schedule.dueTime ?? .max, topUpTime ?? .max)
    if next < .max { loop.setAlarm(at: next) }
  }
}
