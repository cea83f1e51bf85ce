// SPDX-License-Identifier: Apache-2.0

import CRealtime
internal import SoundServer
import Synchronization

/// The controls of `PipeWireOutput`. The caller holds the loop's lock, except for `close`.
extension OutputSession {
  func start() throws(SoundServerError) {
    if phase == .stopped { throw .stopped }
    guard phase == .idle || phase == .failed else { return }
    attempts.failure = nil
    connect()
    showState()
    // `attend` gives up at the timeouts of the two steps. The extra 300 ms are for a machine too
    // busy to run its ticks.
    let limit = Int64(2 * configuration.connectTimeoutMilliseconds + 300) * 1_000_000
    let isDecided = loop.wait(untilNanoseconds: monotonic_nanoseconds() + limit) {
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
    stream.setActive(false)
    showState()
    loop.kick()
  }

  func resume() {
    guard stream.flow.wantsPause || stream.flow.isDrained || stream.flow.isDraining else { return }
    stream.flow.wantsPause = false
    stream.flow.isDrained = false
    stream.flow.isDraining = false
    stream.control.pointee.isHeld.store(false, ordering: .releasing)
    noteBeginning()
    stream.setActive(true)
    showState()
    loop.kick()
  }

  func flush(_ reposition: () -> Void) {
    stream.withoutRendering(reposition)
    stream.control.pointee.isResetDue.store(true, ordering: .releasing)
    noteBeginning()
  }

  func drain(timeoutMilliseconds: Int) -> Bool {
    guard phase == .running else { return false }
    if stream.flow.isDrained { return true }
    stream.control.pointee.heldCycles.store(0, ordering: .relaxed)
    stream.control.pointee.isHeld.store(true, ordering: .releasing)
    stream.flow.isDraining = true
    loop.kick()
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

  /// Ends the stream and the connection. The loop's thread must have ended.
  func close() {
    stream.close()
    connection.destroy()
  }
}
