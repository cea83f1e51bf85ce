// SPDX-License-Identifier: Apache-2.0

import CPipeWire
import CRealtime
internal import SoundServer
import Synchronization

/// Manages the connection of one output, including losses and reconnections.
///
/// Callbacks only kick the loop; `attend` then examines the state and takes the next step. So all
/// transitions are in one place, and nothing is freed within its own callback.
///
/// ## Threading
/// Everything runs on the loop's thread or with the loop's lock held.
final class OutputSession {
  enum Phase {
    case idle, connecting, opening, running, waiting, failed, stopped
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
    var hasPlayed = false
    /// What was lost; nil until the first loss and after each reconnection.
    var loss: Loss?
    /// Why the first connection failed; nil if it has not failed.
    var failure: SoundServerError?
  }

  /// Time without a link to a sink after which the sink counts as lost [ns].
  static let patienceForLink: Int64 = 700_000_000

  let loop: ThreadedLoop
  let connection: Connection
  let stream: OutputStream
  var phase = Phase.idle
  var attempts = Attempts()
  var watchdog = Watchdog(now: 0)
  /// The sink that the stream is linked to; nil if it is linked to none.
  var sinkID: UInt32?
  var unlinkedSince: Int64?
  var answersSeen: Int64 = 0
  var missesSeen: Int64 = 0
  /// The time of the first gap of the last stall, CLOCK_MONOTONIC [ns].
  var lastStall: Int64 = .min / 2
  /// Time before which gaps are not counted as underruns, because the stream is starting [ns].
  var missesCountFrom: Int64 = 0

  var configuration: AudioOutputConfiguration { stream.configuration }
  var board: OutputBoard { stream.board }

  init(
    configuration: AudioOutputConfiguration, callback: AudioRenderCallback
  ) throws(SoundServerError) {
    loop = try ThreadedLoop(name: "audio-output")
    connection = Connection(
      loop: loop, address: configuration.serverAddress,
      applicationName: configuration.applicationName, isRealtime: configuration.raisesPriority)
    stream = OutputStream(library: loop.library, configuration: configuration, callback: callback)
    loop.onTick = { [unowned self] in attend() }
    stream.onChange = { [unowned self] in loop.kick() }
  }

  // MARK: Steps

  func connect() {
    beginAttempt()
    phase = .connecting
    if !connection.open() { lose(.server, reason: connection.failure ?? "no answer") }
    loop.kick()
  }

  private func beginAttempt() {
    let timeout = Int64(configuration.connectTimeoutMilliseconds) * 1_000_000
    attempts.deadline = monotonic_nanoseconds() + timeout
  }

  /// Takes the step that is due in the current phase, and publishes the status.
  private func attend() {
    let now = monotonic_nanoseconds()
    switch phase {
    case .idle, .failed, .stopped: return
    case .waiting: if now >= attempts.retryTime { retry() }
    case .connecting, .opening: attendOpening(now)
    case .running: attendRunning(now)
    }
    publish()
  }

  func publish() {
    showState()
    board.publish()
  }

  private func checkConnection() -> Bool {
    guard connection.isGood else {
      lose(.server, reason: connection.failure ?? "Connection terminated")
      return false
    }
    if let failure = stream.failure {
      lose(.sink, reason: failure)
      return false
    }
    return true
  }

  private func attendOpening(_ now: Int64) {
    guard checkConnection() else { return }
    if phase == .connecting, connection.isSettled { chooseSink() }
    if phase == .opening, isOpen { begin(now) }
    if phase == .opening { loop.tick(after: 5_000_000) }
    guard phase != .running, phase != .waiting, phase != .failed, now > attempts.deadline else {
      return
    }
    if phase == .opening {
      lose(.sink, reason: "the session manager did not connect the stream to a sink")
    } else {
      lose(.server, reason: "no answer")
    }
  }

  private func chooseSink() {
    guard let core = connection.core, let graph = connection.graph else { return }
    let names = graph.sinks.map(\.name)
    if let wanted = configuration.sinkName, !names.contains(wanted) {
      lose(.sink, reason: "no sink is named '\(wanted)'")
    } else if names.isEmpty {
      lose(.sink, reason: "the server has no sink")
    } else {
      phase = .opening
      beginAttempt()
      if !stream.open(on: core) { lose(.sink, reason: stream.failure ?? "the stream failed") }
    }
  }

  /// Whether the stream is linked to a sink and, unless it is paused, has rendered a cycle.
  private var isOpen: Bool {
    guard let graph = connection.graph, let node = stream.nodeID,
      graph.sinkID(linkedFrom: node) != nil
    else { return false }
    if stream.flow.wantsPause { return true }
    return stream.state == PW_STREAM_STATE_STREAMING && stream.hasRun
  }

  private func begin(_ now: Int64) {
    phase = .running
    attempts.hasPlayed = true
    attempts.loss = nil
    attempts.failure = nil
    stream.flow.pausedSince = now
    watchdog = Watchdog(now: now)
    noteBeginning()
    sinkID = nil
    unlinkedSince = nil
    readGraph(isFirst: true)
    readQuantum()
    board.post(.connected(sink: board.draft.sinkName))
    if let sink = board.draft.sink { board.post(.routed(sink)) }
    loop.signal()
  }

  private func retry() {
    if connection.isGood {
      beginAttempt()
      phase = .connecting
      loop.kick()
    } else {
      connect()
    }
  }

  private func attendRunning(_ now: Int64) {
    guard checkConnection() else { return }
    readGraph(isFirst: false)
    guard checkLink(now) else { return }
    readReports(now)
    noteSuspension(now)
    noteDrained(now)
    stream.adaptDepth { $0.pass(now: now) }
    if connection.lastAnswer > answersSeen {
      answersSeen = connection.lastAnswer
      watchdog.answered(now: answersSeen)
    }
    let length = Int64(board.draft.queueMilliseconds * 1e6)
    let finding = watchdog.check(
      now: now, lastRequest: stream.lastWrite, isRequestDue: stream.flow.isRequestDue,
      queueDuration: length)
    switch finding {
    case .ask: connection.ask()
    case .frozen: board.post(.serverFrozen)
    case .thawed: board.post(.serverThawed)
    case nil: break
    }
  }

  /// Notes that playback is starting or restarting: the first cycles may be late.
  func noteBeginning() {
    let now = monotonic_nanoseconds()
    watchdog.restart(now: now)
    missesCountFrom = now + 1_000_000_000
    stream.control.pointee.isRelockDue.store(true, ordering: .releasing)
  }
}
