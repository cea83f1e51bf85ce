// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import SoundServer

/// The controls of `PulseOutput`. The caller holds the loop's lock.
extension OutputSession {
  func start() throws(SoundServerError) {
    if phase == .stopped { throw .stopped }
    guard phase == .idle || phase == .failed else { return }
    attempts.failure = nil
    let timeout = configuration.connectTimeoutMilliseconds
    connect()
    showState()
    // `attend` gives up at the timeout. The extra 300 ms are for a machine too busy to run its
    // ticks.
    let limit = monotonic_nanoseconds() + Int64(timeout + 300) * 1_000_000
    let isDecided = loop.wait(untilNanoseconds: limit) {
      phase == .running || phase == .failed || phase == .stopped
    }
    if !isDecided { lose(.server, reason: "no answer") }
    if phase == .stopped { throw .stopped }
    if let failure = attempts.failure { throw failure }
  }

  func pause() {
    guard !stream.flow.wantsPause else { return }
    stream.flow.wantsPause = true
    stream.flow.pausedSince = monotonic_nanoseconds()
    cork()
  }

  func resume() {
    guard stream.flow.wantsPause || stream.flow.isDrained || stream.flow.isDraining else { return }
    stream.flow.wantsPause = false
    stream.flow.isDrained = false
    stream.flow.isDraining = false
    stream.renderer.pointee.isHeld = false
    stream.renderer.pointee.clock.relock()
    queue.isFeedDue = true
    noteBeginning()
    // Have the queued frames rewritten: they were rendered for poses from before the pause.
    loop.wake()
    cork()
  }

  private func cork() {
    showState()
    loop.kick()
    stream.cork()
  }

  func flush() {
    guard phase == .running else { return }
    queue.flush()
    loop.kick()
  }

  func drain(timeoutMilliseconds: Int) -> Bool {
    guard stream.running != nil else { return false }
    if stream.flow.isDrained { return true }
    stream.drain()
    let deadline = monotonic_nanoseconds() + Int64(timeoutMilliseconds) * 1_000_000
    let ended = loop.wait(untilNanoseconds: deadline) {
      !stream.flow.isDraining || phase != .running
    }
    return ended && phase == .running && stream.flow.isDrained
  }

  func markStopped() {
    phase = .stopped
    publish()
    loop.signal()
  }

  func close() {
    stream.close()
    dropContext()
  }
}
