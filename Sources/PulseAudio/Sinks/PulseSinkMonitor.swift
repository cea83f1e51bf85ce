// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
public import SoundServer
import Synchronization

/// Observes a server's sinks, their ports and the default sink, even across restarts of the server.
///
/// ## Threading
/// It may be used from any thread. `onChange` is called on the monitor's own thread, one call at a
/// time, and must not stop the monitor.
public final class PulseSinkMonitor: SinkMonitor, CallbackTarget, @unchecked Sendable {
  private static let retryInterval: Int64 = 500_000_000

  private let loop: ThreadedLoop
  private let address: String?
  private let onChange: @Sendable ([Sink]) -> Void
  private let known = Mutex<[Sink]>([])
  private let isStopped = Mutex(false)

  // The loop's thread owns these.
  private let collector: SinkCollector
  private var context: OpaquePointer?
  private var isSubscribed = false
  private var isAsked = false
  /// Whether something may have changed since the list was requested.
  private var isStale = true
  private var retryTime: Int64 = 0

  /// Starts to observe the sinks.
  ///
  /// - Parameters:
  ///   - serverAddress: see `AudioOutputConfiguration.serverAddress`.
  ///   - onChange: receives the sinks when they are first known, and again whenever a sink appears,
  ///     changes or disappears or the default sink changes. Receives an empty array when the server
  ///     is lost.
  /// - Throws: `systemFailure`.
  public init(
    serverAddress: String? = nil, onChange: @escaping @Sendable ([Sink]) -> Void
  ) throws(SoundServerError) {
    loop = try ThreadedLoop(name: "sink-monitor")
    collector = SinkCollector(onComplete: loop.kick)
    address = serverAddress
    self.onChange = onChange
    // Not `unowned`: the last tick may run while this object is being released, and `deinit` waits
    // for that tick.
    let this = Unmanaged.passUnretained(self)
    loop.onTick = { this._withUnsafeGuaranteedRef { $0.attend() } }
    try loop.start()
  }

  deinit { stop() }

  /// The sinks as last reported, in the server's order; empty if there is no server.
  public var sinks: [Sink] { known.withLock { $0 } }

  /// Ends the monitor without waiting for the server. `onChange` is not called after that.
  public func stop() {
    let isFirst = isStopped.withLock { isStopped in
      defer { isStopped = true }
      return !isStopped
    }
    guard isFirst else { return }
    loop.stop()
    drop()
  }

  // MARK: Steps

  private func attend() {
    guard let context else {
      if monotonic_nanoseconds() >= retryTime { connect() }
      return
    }
    guard isGood(context) else { return lose() }
    guard pa_context_get_state(context) == PA_CONTEXT_READY else { return }
    if !isSubscribed { subscribeToSinks(context) }
    isSubscribed = true
    if isAsked, collector.isComplete {
      isAsked = false
      tell(collector.sinks)
    }
    if isStale, !isAsked {
      (isAsked, isStale) = (true, false)
      collector.requestWithDefault(from: context)
    }
  }

  private func connect() {
    retryTime = monotonic_nanoseconds() + Self.retryInterval
    context = openContext(loop: loop, applicationName: "Stillstage", address: address) {
      pa_context_set_state_callback($0, { PulseSinkMonitor.with($1) { $0.loop.kick() } }, userdata)
      pa_context_set_subscribe_callback(
        $0, { PulseSinkMonitor.with($3) { $0.objectChanged() } }, userdata)
    }
  }

  private func objectChanged() {
    isStale = true
    loop.kick()
  }

  private func tell(_ sinks: [Sink]) {
    let isNews = known.withLock { known in
      defer { known = sinks }
      return known != sinks
    }
    if isNews { onChange(sinks) }
  }

  private func lose() {
    drop()
    retryTime = monotonic_nanoseconds() + Self.retryInterval
    tell([])
  }

  private func drop() {
    if let context { closeContext(context) }
    context = nil
    (isSubscribed, isAsked, isStale) = (false, false, true)
  }
}
