// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import SoundServer
import Synchronization

/// Losses of the server or the sink, and the output's public state.
extension OutputSession {
  /// Closes the stream, and also the connection if the server was lost, and schedules the next
  /// attempt. Before the first success, the session fails instead.
  func lose(_ kind: Loss, reason: String) {
    let queued =
      stream.isRunning ? stream.renderer.pointee.framesQueued(at: timeLastHeard()) : 0
    let wasSilent = context.map { isGood($0) } ?? false
    noteLoss(kind, reason: reason, queued: queued)
    stream.close()
    if kind == .server { dropContext() }
    if stream.flow.isDraining { stream.flow.isDrained = true }
    stream.flow.isDraining = false
    stream.flow.isSuspended = false
    if attempts.hasPlayed {
      phase = .waiting
      attempts.retryTime = monotonic_nanoseconds() + Attempts.retryInterval
    } else {
      attempts.failure = firstFailure(kind, reason: reason, wasSilent: wasSilent)
      dropContext()
      phase = .failed
      publish()
    }
    loop.signal()
  }

  private func noteLoss(_ kind: Loss, reason: String, queued: Int) {
    guard attempts.hasPlayed, attempts.loss != kind else { return }
    if attempts.loss == nil {
      board.draft.losses += 1
      board.draft.framesQueuedAtLoss = queued
    }
    attempts.loss = kind
    switch kind {
    case .server: board.post(.serverLost(reason: reason, framesQueuedAtLoss: queued))
    case .sink: board.post(.sinkLost(reason: reason, framesQueuedAtLoss: queued))
    }
  }

  private func firstFailure(
    _ kind: Loss, reason: String, wasSilent: Bool
  ) -> SoundServerError {
    let address = describeServerAddress(configuration.serverAddress)
    if kind == .server {
      return wasSilent
        ? .serverSilent(
          address: address, milliseconds: configuration.connectTimeoutMilliseconds)
        : .noServer(address: address, reason: reason)
    }
    if let wanted = configuration.sinkName, !collector.names.contains(wanted) {
      return .unknownSink(name: wanted, available: collector.names)
    }
    return collector.names.isEmpty ? .noSink(address: address) : .streamRefused(reason: reason)
  }

  /// Returns the latest time at which the server can have been playing, CLOCK_MONOTONIC [ns]. It
  /// played nothing after it froze or was paused.
  private func timeLastHeard() -> Int64 {
    let now = monotonic_nanoseconds()
    if stream.flow.wantsPause { return min(now, stream.flow.pausedSince) }
    guard watchdog.frozenSince != nil else { return now }
    return max(watchdog.lastAnswer, stream.lastWrite)
  }

  func showState() {
    let state: AudioOutputState =
      switch phase {
      case .idle: .idle
      case .failed: .failed
      case .stopped: .stopped
      case .connecting, .listing, .opening, .waiting:
        attempts.hasPlayed ? (attempts.loss == .sink ? .sinkLost : .serverLost) : .connecting
      case .running: runningState
      }
    board.counters.pointee.state.store(state.rawValue, ordering: .releasing)
  }

  private var runningState: AudioOutputState {
    if watchdog.frozenSince != nil { return .serverFrozen }
    if stream.flow.isDrained { return .drained }
    if stream.flow.wantsPause { return .paused }
    return stream.flow.isSuspended ? .suspended : .playing
  }
}
