// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime

/// The controls of `AudioOutput`; the caller holds the loop's lock.
extension OutputSession {
  private static let flushSettles: Int64 = 300_000_000

  func start() throws(PulseAudioError) {
    if phase == .stopped { throw .stopped }
    guard phase == .idle || phase == .failed else { return }
    failure = nil
    let timeout = configuration.connectTimeoutMilliseconds
    connect()
    showState()
    // `attend` gives up at the timeout; the rest is for a machine too busy for its ticks.
    let limit = monotonic_nanoseconds() + Int64(timeout + 300) * 1_000_000
    let isDecided = loop.wait(untilNanoseconds: limit) {
      phase == .running || phase == .failed || phase == .stopped
    }
    if !isDecided { lose(.server, reason: "no answer") }
    if phase == .stopped { throw .stopped }
    if let failure { throw failure }
  }

  func pause() {
    guard !wantsPause else { return }
    wantsPause = true
    pausedSince = monotonic_nanoseconds()
    cork()
  }

  func resume() {
    guard wantsPause || isDrained || isDraining else { return }
    wantsPause = false
    isDrained = false
    isDraining = false
    renderer.pointee.isHeld = false
    renderer.pointee.clock.relock()
    isFeedDue = true
    noteBeginning()
    cork()
  }

  /// The stream begins to move: its first requests may take longer and find little.
  func noteBeginning() {
    let now = monotonic_nanoseconds()
    watchdog.restart(now: now)
    lowCountsFrom = now + Self.beginning
  }

  private func cork() {
    showState()
    loop.kick()
    guard phase == .running, let stream else { return }
    release(pa_stream_cork(stream, wantsPause ? 1 : 0, nil, nil))
  }

  func flush() {
    guard phase == .running, let stream else { return }
    underrunsCountFrom = monotonic_nanoseconds() + Self.flushSettles
    lowCountsFrom = monotonic_nanoseconds() + Self.beginning
    renderer.pointee.clock.reset()
    forgetTiming()
    schedule.clear()
    isFeedDue = true
    release(pa_stream_flush(stream, nil, nil))
    loop.kick()
  }

  func drain(timeoutMilliseconds: Int) -> Bool {
    guard phase == .running, let stream else { return false }
    if isDrained { return true }
    renderer.pointee.isHeld = true
    isDraining = true
    release(pa_stream_drain(stream, sessionStreamDrained, userdata))
    let deadline = monotonic_nanoseconds() + Int64(timeoutMilliseconds) * 1_000_000
    let ended = loop.wait(untilNanoseconds: deadline) { !isDraining || phase != .running }
    return ended && phase == .running && isDrained
  }

  func markStopped() {
    phase = .stopped
    showState()
    board.publish()
    pa_threaded_mainloop_signal(loop.handle, 0)
  }

  func close() {
    closeStream()
    dropContext()
  }
}
