// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import Glibc
import Synchronization

extension OutputSession {
  /// Somebody asked for the queue to be looked at.
  func refreshWanted() {
    schedule.ask()
    attendRewriting()
  }

  /// Rewrites if that is due, and sees to it that this is called when it is due next.
  func attendRewriting() {
    guard phase == .running, let stream, isRewriting, isRequestDue else { return schedule.clear() }
    guard let due = schedule.dueTime else { return }
    if monotonic_nanoseconds() >= due { rewrite(stream) }
    if let next = schedule.dueTime { loop.setAlarm(at: next) }
  }

  private func rewrite(_ stream: OpaquePointer) {
    let processorTime = threadProcessorTime()
    let outcome = renderer.pointee.rewrite(stream)
    let now = monotonic_nanoseconds()
    schedule.done(
      at: now, processorTime: threadProcessorTime() - processorTime,
      hasWritten: outcome != .nothing)
    switch outcome {
    case .written(let start):
      board.counters.pointee.rewrites.add(1, ordering: .relaxed)
      askTiming(stream, start)
    case .late: board.counters.pointee.lateRewrites.add(1, ordering: .relaxed)
    case .nothing, .short: break
    }
  }

  // MARK: The margin

  /// What is known before anything was written: how far the sink reads ahead by its own account.
  func seedMargin() {
    let sink = Int64(board.draft.sinkLatencyMilliseconds * 1e6)
    let reserve: Int64 = board.draft.isLatencyApproximate ? 8_000_000 : 2_000_000
    renderer.pointee.rewriter.margin = RewriteMargin(
      start: sink + reserve, limit: Self.largestMargin)
    awaitedStart = nil
  }

  /// The answer comes after the server has taken in what was written before.
  private func askTiming(_ stream: OpaquePointer, _ start: Int64) {
    guard awaitedStart == nil else { return }
    let operation = pa_stream_update_timing_info(stream, sessionTimingArrives, userdata)
    if operation != nil { awaitedStart = start }
    release(operation)
  }

  func timingArrived() {
    guard let start = awaitedStart else { return }
    awaitedStart = nil
    guard let read = positionRead() else { return }
    let slack = (start - read) * 1_000_000_000 / Int64(configuration.sampleRate)
    if slack < 0 { board.counters.pointee.lostRewriteHeads.add(1, ordering: .relaxed) }
    renderer.pointee.rewriter.margin.learn(slack: slack)
    board.draft.rewriteMarginMilliseconds =
      Double(renderer.pointee.rewriter.margin.nanoseconds) / 1e6
  }

  /// The stream position up to which the sink had read at the last timing report.
  private func positionRead() -> Int64? {
    guard let stream, let timing = pa_stream_get_timing_info(stream)?.pointee,
      timing.write_index_corrupt == 0, timing.read_index_corrupt == 0
    else { return nil }
    let written = board.counters.pointee.framesWritten.load(ordering: .relaxed)
    return written
      - (timing.write_index - timing.read_index) / Int64(StreamRenderer.bytesPerFrame)
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
