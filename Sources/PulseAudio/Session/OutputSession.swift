// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import SoundServer
import Synchronization

/// Manages the connection of one output, including losses and reconnections.
///
/// Callbacks for changes of state only kick the loop; `attend` then examines the state and takes
/// the next step. So most transitions are in one place, and nothing is freed within its own
/// callback. The session calls the queue and the stream, and the queue calls the stream, which
/// reports events to the session.
///
/// ## Threading
/// Everything, including the queue and the stream, runs on the loop's thread or with the loop's
/// lock held.
final class OutputSession: CallbackTarget {
  enum Phase {
    case idle, connecting, listing, opening, running, waiting, failed, stopped
  }

  enum Loss {
    case server, sink
  }

  /// The state of the attempts to connect.
  struct Attempts {
    static let retryInterval: Int64 = 95_000_000

    /// When the current attempt times out, CLOCK_MONOTONIC [ns].
    var deadline: Int64 = 0
    /// When the next attempt begins, CLOCK_MONOTONIC [ns].
    var retryTime: Int64 = 0
    var isServerDescribed = false
    var hasPlayed = false
    /// What was lost; nil until the first loss and after each reconnection.
    var loss: Loss?
    /// Why the first connection failed; nil if it has not failed.
    var failure: SoundServerError?
  }

  let loop: ThreadedLoop
  let stream: OutputStream
  let queue: OutputQueue
  let collector = SinkCollector()
  var phase = Phase.idle { didSet { stream.isRunning = phase == .running } }
  var context: OpaquePointer?
  var attempts = Attempts()
  var watchdog = Watchdog(now: 0)
  private var hasRaisedPriority = false

  var configuration: AudioOutputConfiguration { stream.configuration }
  var board: OutputBoard { stream.board }

  init(
    configuration: AudioOutputConfiguration, callback: AudioRenderCallback
  ) throws(SoundServerError) {
    loop = try ThreadedLoop(name: "audio-output")
    stream = OutputStream(configuration: configuration, callback: callback)
    queue = OutputQueue(of: stream, loop: loop)
    loop.onTick = { [unowned self] in attend() }
    loop.onWake = { [unowned self] in queue.refreshWanted() }
    loop.onAlarm = { [unowned self] in queue.alarmed() }
    stream.onEvent = { [unowned self] in take($0) }
  }

  // MARK: Steps

  func connect() {
    beginAttempt()
    phase = .connecting
    context = openContext(
      loop: loop, applicationName: configuration.applicationName,
      address: configuration.serverAddress
    ) {
      pa_context_set_state_callback($0, { OutputSession.with($1) { $0.loop.kick() } }, userdata)
      pa_context_set_subscribe_callback(
        $0,
        { _, event, index, this in
          OutputSession.with(this) { $0.objectChanged(event, index) }
        }, userdata)
    }
    loop.kick()
  }

  private func beginAttempt() {
    let timeout = Int64(configuration.connectTimeoutMilliseconds) * 1_000_000
    attempts.deadline = monotonic_nanoseconds() + timeout
    attempts.isServerDescribed = false
  }

  /// Takes the step that is due in the current phase, and publishes the status.
  private func attend() {
    let now = monotonic_nanoseconds()
    if !hasRaisedPriority, configuration.raisesPriority { AudioThread.raisePriority() }
    hasRaisedPriority = true
    switch phase {
    case .idle, .failed, .stopped: return
    case .waiting: if now >= attempts.retryTime { retry() }
    case .connecting, .listing, .opening: attendOpening(now)
    case .running: attendRunning(now)
    }
    publish()
  }

  func publish() {
    showState()
    board.publish()
  }

  /// Returns whether the connection and the stream are intact, and calls `lose` if they are not.
  ///
  /// - Parameter mustHaveStream: whether a stream that does not exist counts as lost.
  private func checkConnection(mustHaveStream: Bool) -> Bool {
    guard let context, isGood(context) else {
      lose(.server, reason: lastError(of: context))
      return false
    }
    guard stream.handle.map(isGood(stream:)) ?? !mustHaveStream else {
      lose(.sink, reason: lastError(of: context))
      return false
    }
    return true
  }

  private func attendOpening(_ now: Int64) {
    guard checkConnection(mustHaveStream: false), let context else { return }
    if phase == .connecting, pa_context_get_state(context) == PA_CONTEXT_READY { listSinks() }
    if phase == .listing, collector.isComplete, attempts.isServerDescribed { chooseSink() }
    if phase == .opening, let handle = stream.handle,
      pa_stream_get_state(handle) == PA_STREAM_READY
    {
      begin(now)
    }
    if phase != .running, phase != .waiting, now > attempts.deadline {
      lose(.server, reason: "no answer")
    }
  }

  private func listSinks() {
    guard let context else { return }
    phase = .listing
    subscribeToSinks(context)
    askServer()
    collector.request(from: context)
  }

  private func chooseSink() {
    let names = collector.names
    if let wanted = configuration.sinkName, !names.contains(wanted) {
      lose(.sink, reason: "no sink is named '\(wanted)'")
    } else if names.isEmpty {
      lose(.sink, reason: "the server has no sink")
    } else if let context {
      phase = .opening
      guard stream.open(in: context) else {
        return lose(.sink, reason: lastError(of: context))
      }
      queue.fill.forget()
      loop.kick()
    }
  }

  private func begin(_ now: Int64) {
    phase = .running
    attempts.hasPlayed = true
    attempts.loss = nil
    attempts.failure = nil
    stream.flow.pausedSince = now
    watchdog = Watchdog(now: now)
    queue.noteBeginning(now: now)
    readPlace()
    queue.startRewriting()
    board.post(.connected(sink: board.draft.sinkName))
    loop.signal()
  }

  private func retry() {
    if let context, isGood(context) {
      beginAttempt()
      listSinks()
    } else {
      dropContext()
      connect()
    }
  }

  private func attendRunning(_ now: Int64) {
    guard checkConnection(mustHaveStream: true) else { return }
    stream.readLatency()
    noteSuspension(now)
    queue.attend(now)
    let finding = watchdog.check(
      now: now, lastRequest: stream.lastWrite, isRequestDue: stream.flow.isRequestDue,
      queueDuration: stream.renderer.pointee.grantedLatency)
    switch finding {
    case .ask: askServer()
    case .frozen: board.post(.serverFrozen)
    case .thawed: board.post(.serverThawed)
    case nil: break
    }
  }

  private func noteSuspension(_ now: Int64) {
    let suspended = stream.isSuspended(at: now)
    guard suspended != stream.flow.isSuspended else { return }
    stream.flow.isSuspended = suspended
    board.post(suspended ? .suspended : .unsuspended)
    stream.renderer.pointee.clock.relock()
    noteBeginning()
  }

  /// Notes that playback is starting or restarting: the first requests may be late, and the queue
  /// may be low.
  func noteBeginning() {
    let now = monotonic_nanoseconds()
    watchdog.restart(now: now)
    queue.noteBeginning(now: now)
  }

  func dropContext() {
    if let context { closeContext(context) }
    context = nil
  }
}
