// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Synchronization

extension OutputSession {
  package var status: AudioOutputStatus { board.snapshot() }

  package func takeEvents() -> [AudioOutputEvent] { board.takeEvents() }

  package func start() throws(SoundServerError) {
    try thread.withLock { thread throws(SoundServerError) in
      guard thread == .new else { return }
      try loop.start()
      thread = .running
    }
    try loop.locked { () throws(SoundServerError) in try open() }
  }

  private func open() throws(SoundServerError) {
    if phase == .stopped { throw .stopped }
    guard phase == .idle || phase == .failed else { return }
    attempts.failure = nil
    connect()
    showState()
    // `attend` gives up when a step times out. The extra 300 ms allow for a busy machine, on which
    // the loop may tick late.
    let steps = Backend.unopened == nil ? 1 : 2
    let limit = Int64(steps * configuration.connectTimeoutMilliseconds + 300) * 1_000_000
    let isDecided = loop.wait(untilNanoseconds: monotonic_nanoseconds() + limit) {
      phase == .running || phase == .failed || phase == .stopped
    }
    if !isDecided { lose(.server("no answer")) }
    if phase == .stopped { throw .stopped }
    if let failure = attempts.failure { throw failure }
  }

  package func pause() {
    loop.locked {
      guard !stream.flow.wantsPause else { return }
      stream.flow.wantsPause = true
      stream.flow.pausedSince = monotonic_nanoseconds()
      backend.pause()
      showState()
      loop.kick()
    }
  }

  package func resume() {
    loop.locked {
      let flow = stream.flow
      guard flow.wantsPause || flow.isDrained || flow.isDraining else { return }
      stream.flow.wantsPause = false
      stream.flow.isDrained = false
      stream.flow.isDraining = false
      backend.noteBeginning()
      backend.resume()
      showState()
      loop.kick()
    }
  }

  package func flush(_ reposition: () -> Void) { loop.locked { backend.flush(reposition) } }

  package func refresh() { backend.refresh() }

  package func drain(timeoutMilliseconds: Int) -> Bool {
    loop.locked {
      guard phase == .running else { return false }
      if stream.flow.isDrained { return true }
      stream.flow.isDraining = true
      backend.drain()
      loop.kick()
      let deadline = monotonic_nanoseconds() + Int64(timeoutMilliseconds) * 1_000_000
      let hasEnded = loop.wait(untilNanoseconds: deadline) {
        !stream.flow.isDraining || phase != .running
      }
      return hasEnded && phase == .running && stream.flow.isDrained
    }
  }

  package func stop() {
    loop.locked {
      phase = .stopped
      publish()
      loop.signal()
    }
    let isFirst = thread.withLock { thread in
      defer { thread = .ended }
      if thread == .running { loop.stop() }
      return thread != .ended
    }
    if isFirst { backend.close() }
  }
}
