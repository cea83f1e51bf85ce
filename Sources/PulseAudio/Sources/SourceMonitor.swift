// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
public import SoundServer
import Synchronization

/// Observes a server's sources and the default source, even across restarts of the server, and
/// measures the peaks of chosen sources.
///
/// ## Threading
/// It may be used from any thread. `onChange` is called on the monitor's own thread, one call at a
/// time, and must not stop the monitor.
public final class SourceMonitor: CallbackTarget, @unchecked Sendable {
  private static let retryInterval: Int64 = 95_000_000

  private let loop: ThreadedLoop
  private let address: String?
  private let measures: @Sendable (Source) -> Bool
  private let onChange: @Sendable ([Source]) -> Void
  private let known = Mutex<[Source]>([])
  private let isStopped = Mutex(false)
  private let levels = PeakBoard()

  // The loop's thread owns these.
  private let collector: SourceCollector
  private var context: OpaquePointer?
  private var isSubscribed = false
  private var isAsked = false
  /// Whether something may have changed since the list was requested.
  private var isStale = true
  private var retryTime: Int64 = 0
  private var meters: [String: PeakStream] = [:]

  /// Starts to observe the sources.
  ///
  /// - Parameters:
  ///   - serverAddress: see `AudioOutputConfiguration.serverAddress`.
  ///   - measures: returns whether the peaks of a source are measured. The default is that no peaks
  ///     are measured.
  ///   - onChange: receives the sources when they are first known, and again whenever one of them
  ///     or the default source changes. Receives an empty array when the server is lost.
  /// - Throws: `systemFailure`.
  public init(
    serverAddress: String? = nil,
    measures: @escaping @Sendable (Source) -> Bool = { _ in false },
    onChange: @escaping @Sendable ([Source]) -> Void = { _ in }
  ) throws(SoundServerError) {
    loop = try ThreadedLoop(name: "source-monitor")
    collector = SourceCollector(onComplete: loop.kick)
    address = serverAddress
    self.measures = measures
    self.onChange = onChange
    // Not `unowned`: the last tick may run while this object is being released, and `deinit` waits
    // for that tick.
    let this = Unmanaged.passUnretained(self)
    loop.onTick = { this._withUnsafeGuaranteedRef { $0.attend() } }
    try loop.start()
  }

  deinit { stop() }

  /// The sources as last reported, in the server's order; empty if there is no server.
  public var sources: [Source] { known.withLock { $0 } }

  /// Returns the peak of each channel since the last call, by the source's name, with full scale 1.
  /// A source without new values is missing.
  public func takePeaks() -> [String: [Float]] { levels.take() }

  /// The number of peaks that the open meters have received so far. Those of a source's channels
  /// at one time count as one.
  public var peakCount: Int { levels.count }

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
    if !isSubscribed { subscribeToSources(context) }
    isSubscribed = true
    if isAsked, collector.isComplete {
      isAsked = false
      let sources = collector.sources
      tell(sources)
      adjustMeters(to: sources, in: context)
    }
    if isStale, !isAsked {
      (isAsked, isStale) = (true, false)
      collector.request(from: context)
    }
  }

  private func connect() {
    retryTime = monotonic_nanoseconds() + Self.retryInterval
    context = openContext(loop: loop, applicationName: "Stillstage", address: address) {
      pa_context_set_state_callback($0, { SourceMonitor.with($1) { $0.loop.kick() } }, userdata)
      pa_context_set_subscribe_callback(
        $0, { SourceMonitor.with($3) { $0.objectChanged() } }, userdata)
    }
  }

  private func objectChanged() {
    isStale = true
    loop.kick()
  }

  private func tell(_ sources: [Source]) {
    let isNews = known.withLock { known in
      defer { known = sources }
      return known != sources
    }
    if isNews { onChange(sources) }
  }

  /// Opens the meters of new sources, and closes those of sources that are gone or have changed.
  private func adjustMeters(to sources: [Source], in context: OpaquePointer) {
    let wanted = sources.filter(measures)
    for (name, meter) in meters {
      let source = wanted.first { $0.name == name }
      if let source, meter.fits(source), meter.isGood { continue }
      meter.close()
      meters[name] = nil
      levels.forget(name)
    }
    for source in wanted where meters[source.name] == nil {
      meters[source.name] = PeakStream(of: source, in: context, board: levels)
    }
  }

  private func lose() {
    drop()
    retryTime = monotonic_nanoseconds() + Self.retryInterval
    tell([])
  }

  private func drop() {
    for (name, meter) in meters {
      meter.close()
      levels.forget(name)
    }
    meters = [:]
    if let context { closeContext(context) }
    context = nil
    (isSubscribed, isAsked, isStale) = (false, false, true)
  }
}
