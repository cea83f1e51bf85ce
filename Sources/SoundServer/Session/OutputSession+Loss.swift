// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Synchronization

extension OutputSession {
  /// Closes the stream. If the session has ever opened a stream, schedules the next attempt to
  /// connect; otherwise, the session fails.
  func lose(_ loss: OutputLoss) {
    let time = timeLastHeard()
    stream.close()
    note(loss, queued: phase == .running ? backend.framesQueued(at: time) : 0)
    if stream.flow.isDraining { stream.flow.isDrained = true }
    stream.flow.isDraining = false
    stream.flow.isSuspended = false
    if attempts.hasSucceeded {
      if loss.kind == .server { backend.disconnect() }
      phase = .waiting
      attempts.postpone(now: monotonic_nanoseconds())
    } else {
      attempts.failure = firstFailure(loss)
      backend.disconnect()
      phase = .failed
      publish()
    }
    loop.signal()
  }

  private func note(_ loss: OutputLoss, queued: Int) {
    guard attempts.hasSucceeded, self.loss != loss.kind else { return }
    if self.loss == nil {
      board.draft.losses += 1
      board.draft.framesQueuedAtLoss = queued
    }
    self.loss = loss.kind
    switch loss.kind {
    case .server: board.post(.serverLost(reason: loss.reason, framesQueuedAtLoss: queued))
    case .sink: board.post(.sinkLost(reason: loss.reason, framesQueuedAtLoss: queued))
    }
  }

  private func firstFailure(_ loss: OutputLoss) -> SoundServerError {
    let address = backend.address
    if loss.kind == .server {
      return backend.isConnected
        ? .serverSilent(
          address: address, milliseconds: configuration.connectTimeoutMilliseconds)
        : backend.noServer(reason: loss.reason)
    }
    let names = backend.sinkNames
    if let wanted = configuration.sinkName, !names.contains(wanted) {
      return .unknownSink(name: wanted, available: names)
    }
    return names.isEmpty ? .noSink(address: address) : .streamRefused(reason: loss.reason)
  }

  /// Returns an estimate of the time at which the server stopped playing, in CLOCK_MONOTONIC
  /// nanoseconds.
  private func timeLastHeard() -> Int64 {
    let now = monotonic_nanoseconds()
    if stream.flow.wantsPause { return min(now, stream.flow.pausedSince) }
    guard stream.flow.isFrozen else { return now }
    return max(watchdog.lastAnswer, stream.lastWrite)
  }

  func showState() {
    let state: AudioOutputState =
      switch phase {
      case .idle: .idle
      case .failed: .failed
      case .stopped: .stopped
      case .connecting, .opening, .waiting:
        attempts.hasSucceeded ? (loss == .sink ? .sinkLost : .serverLost) : .connecting
      case .running: runningState
      }
    board.counters.pointee.state.store(state.rawValue, ordering: .releasing)
  }

  private var runningState: AudioOutputState {
    if stream.flow.isFrozen { return .serverFrozen }
    if stream.flow.isDrained { return .drained }
    if stream.flow.wantsPause { return .paused }
    return stream.flow.isSuspended ? .suspended : .playing
  }
}
