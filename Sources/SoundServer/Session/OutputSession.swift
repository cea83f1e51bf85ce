// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Synchronization

/// Manages an output's connection, losses and controls.
///
/// The callbacks of the server's client library do not call the session, but make the loop tick.
/// The tick calls `attend`, which takes the next step. No object is therefore freed within one of
/// its own callbacks.
///
/// ## Threading
/// Any thread may call `refresh`. Any thread but the loop's may call the other controls. Everything
/// else runs on the loop's thread or with the loop's lock held.
package final class OutputSession<Backend: OutputBackend> {
  enum Phase {
    case idle, connecting, opening, running, waiting, failed, stopped
  }

  enum Thread {
    case new, running, ended
  }

  let backend: Backend
  var phase = Phase.idle { didSet { stream.flow.isRunning = phase == .running } }
  var attempts: ConnectionAttempts
  /// What the session has lost and not yet regained; nil if nothing.
  var loss: OutputLoss.Kind?
  var watchdog = Watchdog(now: 0)
  let thread = Mutex(Thread.new)

  package var loop: Backend.Loop { backend.loop }
  var stream: Backend.Stream { backend.stream }
  var configuration: AudioOutputConfiguration { stream.configuration }
  var board: OutputBoard { stream.board }

  /// Prepares a session without contacting the server. The owner must call `stop` before it
  /// releases the session.
  package init(_ backend: Backend) {
    self.backend = backend
    attempts = ConnectionAttempts(
      timeoutMilliseconds: backend.stream.configuration.connectTimeoutMilliseconds)
    backend.loop.onTick = { [unowned self] in attend() }
  }

  // MARK: Steps

  func connect() {
    attempts.begin(now: monotonic_nanoseconds())
    phase = .connecting
    backend.connect()
    loop.kick()
  }

  /// Takes the step that is due in the current phase.
  private func attend() {
    let now = monotonic_nanoseconds()
    switch phase {
    case .idle, .failed, .stopped: return
    case .waiting: if attempts.isRetryDue(now) { connect() }
    case .connecting, .opening: attendOpening(now)
    case .running: attendRunning(now)
    }
    publish()
  }

  func publish() {
    showState()
    board.publish()
  }

  private func attendOpening(_ now: Int64) {
    if let loss = backend.findLoss(now) { return lose(loss) }
    if phase == .connecting, backend.findSinks() { chooseSink(now) }
    if phase == .opening, backend.checkOpen() { begin(now) }
    guard phase == .connecting || phase == .opening, attempts.isLate(now) else { return }
    if phase == .opening, let reason = Backend.unopened {
      lose(.sink(reason))
    } else {
      lose(.server("no answer"))
    }
  }

  private func chooseSink(_ now: Int64) {
    let names = backend.sinkNames
    if let wanted = configuration.sinkName, !names.contains(wanted) {
      lose(.sink("no sink is named '\(wanted)'"))
    } else if names.isEmpty {
      lose(.sink("the server has no sinks"))
    } else {
      phase = .opening
      if Backend.unopened != nil { attempts.begin(now: now) }
      if let loss = backend.open() { return lose(loss) }
      loop.kick()
    }
  }

  private func begin(_ now: Int64) {
    phase = .running
    attempts.succeeded()
    loss = nil
    stream.flow.pausedSince = now
    stream.flow.isFrozen = false
    watchdog = Watchdog(now: now)
    backend.noteBeginning()
    backend.begin()
    loop.signal()
  }

  private func attendRunning(_ now: Int64) {
    if backend.lastAnswer > watchdog.lastAnswer { watchdog.answered(now: backend.lastAnswer) }
    if let loss = backend.findLoss(now) { return lose(loss) }
    noteSuspension(now)
    backend.attend(now)
    watchdog.restart(now: stream.flow.beginning)
    let finding = watchdog.check(
      now: now, lastRequest: stream.lastWrite, isRequestDue: stream.isRequestDue,
      queueDuration: backend.queueDuration)
    switch finding {
    case .ask: backend.ask()
    case .frozen: board.post(.serverFrozen)
    case .thawed: board.post(.serverThawed)
    case nil: break
    }
    stream.flow.isFrozen = watchdog.frozenSince != nil
  }

  private func noteSuspension(_ now: Int64) {
    let isSuspended = backend.isSuspended(at: now)
    guard isSuspended != stream.flow.isSuspended else { return }
    stream.flow.isSuspended = isSuspended
    board.post(isSuspended ? .suspended : .unsuspended)
    backend.noteBeginning()
  }
}
