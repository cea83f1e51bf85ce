// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import Synchronization

/// The connection of one output through all that can befall it.
///
/// libpulse's callbacks only kick the loop; `attend` then looks at everything and takes the next
/// step. So each transition is in one place, and nothing is freed from within its own callback.
///
/// ## Threading
/// All of it runs on the loop's thread or with the loop's lock held.
final class OutputSession {
  enum Phase {
    case idle
    case connecting
    case listing
    case opening
    case running
    case waiting
    case failed
    case stopped
  }

  enum Loss {
    case server
    case sink
  }

  static let retryInterval: Int64 = 95_000_000
  static let beginning: Int64 = 2_500_000_000
  /// From the first sound of a stream on.
  static let settling: Int64 = 500_000_000
  /// From this long without a request on, a sink that calls itself suspended is believed.
  static let quietOfSuspension: Int64 = 300_000_000

  let configuration: AudioOutputConfiguration
  let loop: ThreadedLoop
  let board = OutputBoard()
  let renderer: UnsafeMutablePointer<StreamRenderer>
  let collector = SinkCollector()
  /// Keeps the context of the render function alive.
  private let callback: AudioRenderCallback

  var phase = Phase.idle
  var context: OpaquePointer?
  var stream: OpaquePointer?
  var watchdog = Watchdog(now: 0)
  /// Why the first connection failed.
  var failure: PulseAudioError?
  /// What is missing, while waiting to try again.
  var loss: Loss?
  var hasPlayed = false
  var wantsPause: Bool
  var pausedSince: Int64 = 0
  var isDraining = false
  var isDrained = false
  var isSuspended = false
  var isServerDescribed = false
  var sinkState = Sink.State.unknown
  var sinkIndex: UInt32 = .max
  /// The queue may have room that the server will not speak of again.
  var isFeedDue = false
  /// A flush empties the queue on purpose.
  var underrunsCountFrom: Int64 = 0
  var schedule = RewriteSchedule()
  /// Where the piece begins whose arrival the server was asked about.
  var awaitedStart: Int64?
  var isTimingAwaited = false
  /// When the server was asked last [ns].
  var lastQuestion: Int64 = 0
  var queueDepth: QueueDepth
  var queueFill: QueueFill
  /// Whether this stream is topped up before the server asks.
  var isToppedUp = false
  /// How far a sink reads ahead that was asked for less, as the server tells [ms].
  var configuredSinkMilliseconds = 0.0
  var rewritingRetry: Int64 = 0
  /// When the sink last read no further ahead than it may.
  var withinLimit: Int64 = 0
  /// The sink's part of the reported latency, smoothed [ms].
  var reportedSinkShare = 0.0
  private var hasRaisedPriority = false
  /// A stream that begins fills an empty queue, and a null sink takes two seconds to begin.
  var lowCountsFrom: Int64 = 0
  private var deadline: Int64 = 0
  private var retryTime: Int64 = 0

  var isRewriting: Bool { board.draft.rewriting == .active }
  var isRequestDue: Bool { !wantsPause && !isDraining && !isDrained && !isSuspended }
  var userdata: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  init(
    configuration: AudioOutputConfiguration, callback: AudioRenderCallback
  ) throws(PulseAudioError) {
    self.configuration = configuration
    self.callback = callback
    loop = try ThreadedLoop(name: "audio-output")
    wantsPause = configuration.startsPaused
    renderer = .allocate(capacity: 1)
    renderer.initialize(
      to: StreamRenderer(
        callback: callback, counters: board.counters, sampleRate: configuration.sampleRate,
        queueMilliseconds: configuration.latencyMilliseconds ?? configuration.queueRules.deepest))
    let rewriting: QueueRewriting =
      callback.rewrite == nil
      ? .unsupportedBySource : (configuration.rewriting == .never ? .switchedOff : .active)
    queueDepth = QueueDepth(
      fixed: configuration.latencyMilliseconds, isRewritten: rewriting == .active,
      rules: configuration.latencyIsFree ? configuration.queueRules.deep : configuration.queueRules)
    queueFill = QueueFill(sampleRate: configuration.sampleRate)
    board.draft.rewriting = rewriting
    board.draft.sampleRate = configuration.sampleRate
    board.draft.requestedLatencyMilliseconds = queueDepth.milliseconds
    board.publish()
    loop.onTick = { [unowned self] in attend() }
    loop.onWake = { [unowned self] in refreshWanted() }
    loop.onAlarm = { [unowned self] in attendAlarm() }
  }

  deinit {
    renderer.pointee.deallocate()
    renderer.deinitialize(count: 1)
    renderer.deallocate()
  }

  // MARK: Steps

  func connect() {
    setDeadline()
    phase = .connecting
    isServerDescribed = false
    context = openContext(
      loop: loop, applicationName: configuration.applicationName,
      address: configuration.serverAddress
    ) {
      pa_context_set_state_callback($0, sessionContextChanges, userdata)
      pa_context_set_subscribe_callback($0, sessionObjectChanges, userdata)
    }
    loop.kick()
  }

  private func setDeadline() {
    let timeout = Int64(configuration.connectTimeoutMilliseconds) * 1_000_000
    deadline = monotonic_nanoseconds() + timeout
  }

  /// Takes whatever step is due.
  func attend() {
    let now = monotonic_nanoseconds()
    if !hasRaisedPriority, configuration.raisesPriority { AudioThread.raisePriority() }
    hasRaisedPriority = true
    switch phase {
    case .idle, .failed, .stopped: return
    case .waiting: if now >= retryTime { retry() }
    case .connecting, .listing, .opening: attendOpening(now)
    case .running: attendRunning(now)
    }
    showState()
    board.publish()
  }

  private func attendOpening(_ now: Int64) {
    guard let context, isGood(context) else {
      return lose(.server, reason: lastError(of: context))
    }
    if let stream, !isGood(stream: stream) {
      return lose(.sink, reason: lastError(of: context))
    }
    if phase == .connecting, pa_context_get_state(context) == PA_CONTEXT_READY { listSinks() }
    if phase == .listing, collector.isComplete, isServerDescribed { chooseSink() }
    if phase == .opening, let stream, pa_stream_get_state(stream) == PA_STREAM_READY { begin(now) }
    if phase != .running, phase != .waiting, now > deadline {
      lose(.server, reason: "no answer")
    }
  }

  private func listSinks() {
    guard let context else { return }
    phase = .listing
    let changes = pa_subscription_mask_t(
      rawValue: PA_SUBSCRIPTION_MASK_SINK.rawValue | PA_SUBSCRIPTION_MASK_SERVER.rawValue
        | PA_SUBSCRIPTION_MASK_CARD.rawValue)
    release(pa_context_subscribe(context, changes, nil, nil))
    askServer()
    collector.request(from: context)
  }

  private func chooseSink() {
    let names = collector.names
    if let wanted = configuration.sinkName, !names.contains(wanted) {
      lose(.sink, reason: "no sink is named '\(wanted)'")
    } else if names.isEmpty {
      lose(.sink, reason: "the server has no sink")
    } else {
      phase = .opening
      openStream()
    }
  }

  private func begin(_ now: Int64) {
    phase = .running
    hasPlayed = true
    loss = nil
    failure = nil
    pausedSince = now
    watchdog = Watchdog(now: now)
    lowCountsFrom = now + Self.beginning
    readPlace()
    startRewriting()
    board.post(.connected(sink: board.draft.sinkName))
    pa_threaded_mainloop_signal(loop.handle, 0)
  }

  /// Gives up what is gone and sets up the next attempt; before the first success, fails instead.
  func lose(_ kind: Loss, reason: String) {
    let queued = phase == .running ? renderer.pointee.framesQueued(at: timeLastHeard()) : 0
    let wasSilent = context.map { isGood($0) } ?? false
    noteLoss(kind, reason: reason, queued: queued)
    closeStream()
    if kind == .server { dropContext() }
    if isDraining { isDrained = true }
    isDraining = false
    isSuspended = false
    if hasPlayed {
      phase = .waiting
      retryTime = monotonic_nanoseconds() + Self.retryInterval
    } else {
      failure = firstFailure(kind, reason: reason, wasSilent: wasSilent)
      dropContext()
      phase = .failed
      showState()
      board.publish()
    }
    pa_threaded_mainloop_signal(loop.handle, 0)
  }

  private func noteLoss(_ kind: Loss, reason: String, queued: Int) {
    guard hasPlayed, loss != kind else { return }
    if loss == nil {
      board.draft.losses += 1
      board.draft.framesQueuedAtLoss = queued
    }
    loss = kind
    switch kind {
    case .server: board.post(.serverLost(reason: reason, framesQueuedAtLoss: queued))
    case .sink: board.post(.sinkLost(reason: reason, framesQueuedAtLoss: queued))
    }
  }

  private func firstFailure(
    _ kind: Loss, reason: String, wasSilent: Bool
  ) -> PulseAudioError {
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

  private func retry() {
    if let context, isGood(context) {
      setDeadline()
      isServerDescribed = false
      listSinks()
    } else {
      dropContext()
      connect()
    }
  }

  /// Until when the server can have played: not after it froze or was paused.
  private func timeLastHeard() -> Int64 {
    let now = monotonic_nanoseconds()
    if wantsPause { return min(now, pausedSince) }
    guard watchdog.frozenSince != nil else { return now }
    return max(watchdog.lastAnswer, board.counters.pointee.lastWrite.load(ordering: .relaxed))
  }

  func dropContext() {
    if let context { closeContext(context) }
    context = nil
  }
}
