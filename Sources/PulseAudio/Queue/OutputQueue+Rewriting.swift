// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import Glibc
import SoundServer
import Synchronization

extension OutputQueue {
  struct TimingQuestion {
    var isAwaited = false
    /// The stream position at the start of the window that was written just before the timing was
    /// requested; nil if no window was written.
    var start: Int64?
    /// The time of the last request, in CLOCK_MONOTONIC nanoseconds.
    var time: Int64 = 0
  }

  /// Requests a rewrite, and rewrites at once if one is due. The loop calls this function after
  /// `PulseBackend.refresh` and `PulseBackend.resume`.
  func refreshWanted() {
    schedule.ask()
    attendRewriting()
    setAlarm()
  }

  /// Rewrites and tops up the queue if a rewrite is due. Cancels all planned rewrites if the stream
  /// cannot be rewritten now.
  func attendRewriting() {
    guard let running = stream.running, stream.isRewriting, stream.flow.isRequestDue else {
      return schedule.clear()
    }
    guard let due = schedule.dueTime, monotonic_nanoseconds() >= due else { return }
    rewrite(running)
    topUp(isAwake: true)
  }

  private func rewrite(_ running: OpaquePointer) {
    // First fill the queue if more than a quarter of the requested buffer is free.
    feed(ifMissing: Double(stream.attributes.tlength) / 4)
    let processorTime = threadProcessorTime()
    let outcome = stream.renderer.pointee.rewrite(running)
    schedule.done(
      at: monotonic_nanoseconds(), processorTime: threadProcessorTime() - processorTime,
      hasWritten: outcome != .nothing)
    switch outcome {
    case .written(let start):
      stream.counters.pointee.rewrites.add(1, ordering: .relaxed)
      let isAskedOften = !stream.renderer.pointee.overwriter.margin.isSettled
      if isQuestionDue(monotonic_nanoseconds(), always: isAskedOften) { askTiming(start: start) }
    case .late: stream.counters.pointee.lateRewrites.add(1, ordering: .relaxed)
    case .nothing, .short: break
    }
  }

  // MARK: Timing reports

  /// Returns whether a timing report should be requested. Unless `always` is true, the last request
  /// must be more than 40 ms old, or more than 25 ms for a server with approximate reports.
  func isQuestionDue(_ now: Int64, always: Bool) -> Bool {
    always || now - question.time > (stream.board.draft.isLatencyApproximate ? 25 : 40) * 1_000_000
  }

  /// Requests a timing report unless one is pending. `start` is the stream position at the start of
  /// the window that was just written; nil if no window was written.
  func askTiming(start: Int64? = nil) {
    guard !question.isAwaited else { return }
    let isSent = stream.askTiming()
    question = TimingQuestion(
      isAwaited: isSent, start: isSent ? start : nil, time: monotonic_nanoseconds())
  }

  /// Discards the last timing report and cancels a pending request.
  func forgetTiming() {
    fill.forget()
    stream.cancelTiming()
    question.isAwaited = false
    question.start = nil
  }

  func timingArrived() {
    guard question.isAwaited, let handle = stream.handle else { return }
    question.isAwaited = false
    stream.renderer.pointee.observeTiming(handle)
    guard let timing = pa_stream_get_timing_info(handle)?.pointee,
      timing.write_index_corrupt == 0, timing.read_index_corrupt == 0
    else { return }
    let queued = (timing.write_index - timing.read_index) / Int64(StreamRenderer.bytesPerFrame)
    let rate = stream.configuration.sampleRate
    if timing.playing != 0 {
      fill.learn(queued: queued, written: stream.framesWritten, now: monotonic_nanoseconds())
    } else {
      // Until the stream plays, leave filling to the server's requests.
      fill.forget()
    }
    stream.board.draft.queuedMilliseconds = Double(queued) * 1000 / Double(rate)
    stream.place.reportedMilliseconds +=
      (Double(timing.sink_usec) / 1000 - stream.place.reportedMilliseconds) / 16
    stream.renderer.pointee.overwriter.margin.learn(readAhead: Int64(timing.sink_usec) * 1000)
    if let start = question.start {
      question.start = nil
      learn(slack: (start - (stream.framesWritten - queued)) * 1_000_000_000 / Int64(rate))
    }
    judgeMargin()
  }

  // MARK: The margin

  /// Forgets the previous sink's timing and margin. Resumes rewriting if it was off because that
  /// sink read too far ahead.
  func startRewriting() {
    forgetTiming()
    stream.place.reportedMilliseconds = 0
    resetMargin()
    judge.restart(now: monotonic_nanoseconds())
    if case .sinkReadsTooFarAhead = stream.board.draft.rewriting { stream.setRewriting(.active) }
  }

  private func resetMargin() {
    stream.renderer.pointee.overwriter.margin = RewriteMargin(
      readAhead: 0, extra: stream.board.draft.isLatencyApproximate ? 8_000_000 : 2_000_000,
      limit: Int64(stream.configuration.largestMarginMilliseconds * 1e6))
  }

  private func learn(slack: Int64) {
    if slack < 0 { stream.counters.pointee.lostRewriteHeads.add(1, ordering: .relaxed) }
    stream.renderer.pointee.overwriter.margin.learn(slack: slack)
  }

  private func judgeMargin() {
    let margin = stream.renderer.pointee.overwriter.margin
    stream.board.draft.rewriteMarginMilliseconds = Double(margin.nanoseconds) / 1e6
    guard stream.configuration.rewriting == .automatic else { return }
    let now = monotonic_nanoseconds()
    switch stream.board.draft.rewriting {
    case .active where judge.givesUp(margin, hasBegun: now >= lowCountsFrom, now: now):
      stream.setRewriting(
        .sinkReadsTooFarAhead(
          milliseconds: max(
            Double(margin.nanoseconds) / 1e6, stream.board.draft.sinkLatencyMilliseconds)))
    case .sinkReadsTooFarAhead where judge.triesAgain(margin, now: now):
      resetMargin()
      stream.setRewriting(.active)
    case .active, .sinkReadsTooFarAhead, .unsupportedBySource, .switchedOff: break
    }
  }
}

private func threadProcessorTime() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
