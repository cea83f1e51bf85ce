// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import Glibc
import Synchronization

extension OutputSession {
  /// Until rewriting is tried again where it got lost [ns].
  private static let patienceAfterLosses: Int64 = 60_000_000_000
  private static let patienceBeyondLimit: Int64 = 4_000_000_000
  /// Between two questions, once the margin is known [ns]: an answer wakes the thread. Reports that
  /// are early by up to a request need more of them.
  private var leastBetweenQuestions: Int64 {
    board.draft.isLatencyApproximate ? 25_000_000 : 40_000_000
  }

  /// Somebody asked for the queue to be looked at.
  func refreshWanted() {
    schedule.ask()
    attendRewriting()
    setAlarm()
  }

  /// It is time for something that was put off.
  func attendAlarm() {
    attendRewriting()
    if let stream { topUp(stream, isAwake: false) }
    setAlarm()
  }

  /// Rewrites if that is due.
  private func attendRewriting() {
    guard phase == .running, let stream, isRewriting, isRequestDue else { return schedule.clear() }
    guard let due = schedule.dueTime, monotonic_nanoseconds() >= due else { return }
    rewrite(stream)
    topUp(stream, isAwake: true)
  }

  /// For whatever is due next.
  func setAlarm() {
    let next = min(schedule.dueTime ?? .max, topUpTime ?? .max)
    if next < .max { loop.setAlarm(at: next) }
  }

  private func rewrite(_ stream: OpaquePointer) {
    // What is missing at the end comes first, if it is much.
    feedIfMuchIsMissing(stream)
    let processorTime = threadProcessorTime()
    let outcome = renderer.pointee.rewrite(stream)
    schedule.done(
      at: monotonic_nanoseconds(), processorTime: threadProcessorTime() - processorTime,
      hasWritten: outcome != .nothing)
    switch outcome {
    case .written(let start):
      board.counters.pointee.rewrites.add(1, ordering: .relaxed)
      let isAskedOften = !renderer.pointee.rewriter.margin.isSettled
      if isAskedOften || monotonic_nanoseconds() - lastQuestion > leastBetweenQuestions {
        askTiming(stream, start: start)
      }
    case .late: board.counters.pointee.lateRewrites.add(1, ordering: .relaxed)
    case .nothing, .short: break
    }
  }

  private func feedIfMuchIsMissing(_ stream: OpaquePointer) {
    let room = pa_stream_writable_size(stream)
    if room > 0, Double(room) > Double(attributes.tlength) / 4 {
      renderer.pointee.fill(stream, byteCount: room)
    }
  }

  // MARK: What the server tells of time

  /// The answer comes after the server has taken in what was written before.
  ///
  /// - Parameter start: of the piece that was just written.
  func askTiming(_ stream: OpaquePointer, start: Int64? = nil) {
    guard !isTimingAwaited else { return }
    let operation = pa_stream_update_timing_info(stream, sessionTimingArrives, userdata)
    isTimingAwaited = operation != nil
    lastQuestion = monotonic_nanoseconds()
    awaitedStart = isTimingAwaited ? start : nil
    release(operation)
  }

  /// What is on its way tells of a queue that is gone.
  func forgetTiming() {
    queueFill.forget()
    isTimingAwaited = false
    awaitedStart = nil
  }

  func timingArrived() {
    guard isTimingAwaited, let stream else { return }
    isTimingAwaited = false
    renderer.pointee.observeTiming(stream)
    guard let timing = pa_stream_get_timing_info(stream)?.pointee,
      timing.write_index_corrupt == 0, timing.read_index_corrupt == 0
    else { return }
    let queued =
      (timing.write_index - timing.read_index) / Int64(StreamRenderer.bytesPerFrame)
    noteFill(queued, isPlaying: timing.playing != 0)
    board.draft.queuedMilliseconds = Double(queued) * 1000 / Double(configuration.sampleRate)
    reportedSinkShare += (Double(timing.sink_usec) / 1000 - reportedSinkShare) / 16
    renderer.pointee.rewriter.margin.learn(readAhead: Int64(timing.sink_usec) * 1000)
    defer { judgeMargin() }
    guard let start = awaitedStart else { return }
    awaitedStart = nil
    let written = board.counters.pointee.framesWritten.load(ordering: .relaxed)
    learn(slackFrames: start - (written - queued))
  }

  /// The queue of a stream that does not move yet waits to be filled at the server's request.
  private func noteFill(_ queued: Int64, isPlaying: Bool) {
    guard isPlaying else { return queueFill.forget() }
    queueFill.learn(
      queued: queued, written: board.counters.pointee.framesWritten.load(ordering: .relaxed),
      now: monotonic_nanoseconds())
  }

  // MARK: The margin

  /// On a sink that nothing is known of.
  func startRewriting() {
    forgetTiming()
    reportedSinkShare = 0
    resetMargin()
    withinLimit = monotonic_nanoseconds()
    if case .sinkReadsTooFarAhead = board.draft.rewriting { setRewriting(.active) }
  }

  private func resetMargin() {
    renderer.pointee.rewriter.margin = RewriteMargin(
      readAhead: 0, extra: board.draft.isLatencyApproximate ? 8_000_000 : 2_000_000,
      limit: Int64(configuration.largestMarginMilliseconds * 1e6))
  }

  private func learn(slackFrames: Int64) {
    let slack = slackFrames * 1_000_000_000 / Int64(configuration.sampleRate)
    if slack < 0 { board.counters.pointee.lostRewriteHeads.add(1, ordering: .relaxed) }
    renderer.pointee.rewriter.margin.learn(slack: slack)
  }

  /// Gives up on a sink that cannot be followed, and comes back when it can.
  private func judgeMargin() {
    let margin = renderer.pointee.rewriter.margin
    board.draft.rewriteMarginMilliseconds = Double(margin.nanoseconds) / 1e6
    guard configuration.rewriting == .automatic else { return }
    let now = monotonic_nanoseconds()
    switch board.draft.rewriting {
    case .active:
      // A stream that begins may find a sink that still has the depth of another.
      if !margin.isSinkBeyondLimit { withinLimit = now }
      let isBeyond = now - withinLimit > Self.patienceBeyondLimit
      guard margin.isLosingAtLimit || (isBeyond && now >= lowCountsFrom) else { return }
      rewritingRetry = now + (margin.isLosingAtLimit ? Self.patienceAfterLosses : 0)
      setRewriting(
        .sinkReadsTooFarAhead(
          milliseconds: max(
            Double(margin.nanoseconds) / 1e6, board.draft.sinkLatencyMilliseconds)))
    case .sinkReadsTooFarAhead:
      guard !margin.isSinkBeyondLimit, now >= rewritingRetry else { return }
      resetMargin()
      withinLimit = now
      setRewriting(.active)
    case .unsupportedBySource, .switchedOff: break
    }
  }

  private func setRewriting(_ rewriting: QueueRewriting) {
    board.draft.rewriting = rewriting
    if queueDepth.setRewritten(rewriting == .active, now: monotonic_nanoseconds()) {
      applyQueueDepth()
    } else {
      postQueue()
    }
  }

  // MARK: The queue's depth

  /// Every tick: whether the queue is deep enough, and what the server's clock says.
  func attendQueue(_ stream: OpaquePointer, _ now: Int64) {
    let isDue = board.draft.isLatencyApproximate || now - lastQuestion > leastBetweenQuestions
    if isRequestDue, isDue { askTiming(stream) }
    setAlarm()
    let least = renderer.pointee.leastQueued
    renderer.pointee.leastQueued = .max
    if least < Int64(queueDepth.milliseconds * 1e6) / 5, now >= lowCountsFrom {
      queueRanLow()
    }
    if queueDepth.pass(now: now) { applyQueueDepth() }
  }

  func queueRanLow() {
    if queueDepth.ranLow(now: monotonic_nanoseconds()) { applyQueueDepth() }
  }

  /// The server fills up a deeper queue by asking for more at once, and lets a shallower one drain.
  private func applyQueueDepth() {
    board.draft.requestedLatencyMilliseconds = queueDepth.milliseconds
    postQueue()
    setAttributes()
  }

  func setAttributes() {
    guard phase == .running, let stream else { return }
    var attributes = attributes
    release(pa_stream_set_buffer_attr(stream, &attributes, sessionBufferIsSet, userdata))
  }

  private func postQueue() {
    board.post(
      .queueChanged(milliseconds: queueDepth.milliseconds, rewriting: board.draft.rewriting))
  }
}

private func threadProcessorTime() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

private func sessionTimingArrives(
  _ stream: OpaquePointer?, _ success: Int32, _ userdata: UnsafeMutableRawPointer?
) {
  session(userdata)?.timingArrived()
}

private func sessionBufferIsSet(
  _ stream: OpaquePointer?, _ success: Int32, _ userdata: UnsafeMutableRawPointer?
) {
  if success != 0 { session(userdata)?.readBuffer() }
}
