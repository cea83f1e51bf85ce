// SPDX-License-Identifier: Apache-2.0

import CRealtime
internal import SoundServer
import Synchronization

/// Losses of the server or the sink, and the output's public state.
extension OutputSession {
  /// Closes the stream, and also the connection if the server was lost, and schedules the next
  /// attempt. Before the first success, the session fails instead.
  func lose(_ kind: Loss, reason: String) {
    let time = timeLastHeard()
    let wasPlaying = phase == .running
    stream.close()
    noteLoss(
      kind, reason: reason, queued: wasPlaying ? stream.pump.pointee.framesQueued(at: time) : 0)
    let names = connection.graph?.sinks.map(\.name) ?? []
    let wasSilent = connection.isGood
    if kind == .server { connection.close() }
    if stream.flow.isDraining { stream.flow.isDrained = true }
    stream.flow.isDraining = false
    stream.flow.isSuspended = false
    unlinkedSince = nil
    if attempts.hasPlayed {
      phase = .waiting
      attempts.retryTime = monotonic_nanoseconds() + Attempts.retryInterval
      loop.tick(after: Attempts.retryInterval)
    } else {
      attempts.failure = firstFailure(kind, reason, sinks: names, wasSilent: wasSilent)
      connection.close()
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
    _ kind: Loss, _ reason: String, sinks: [String], wasSilent: Bool
  ) -> SoundServerError {
    let address = describeServerAddress(configuration.serverAddress)
    if kind == .server {
      return wasSilent
        ? .serverSilent(
          address: address, milliseconds: configuration.connectTimeoutMilliseconds)
        : .noPipeWire(reason: "nothing answers at \(address) (\(reason))")
    }
    if let wanted = configuration.sinkName, !sinks.contains(wanted) {
      return .unknownSink(name: wanted, available: sinks)
    }
    return sinks.isEmpty ? .noSink(address: address) : .streamRefused(reason: reason)
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
      case .connecting, .opening, .waiting:
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
