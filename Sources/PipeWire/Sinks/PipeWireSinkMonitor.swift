// SPDX-License-Identifier: Apache-2.0

import CRealtime
public import SoundServer
import Synchronization

/// Observes a server's sinks, their ports and the default sink, even across restarts of the server.
///
/// ## Threading
/// It may be used from any thread. `onChange` is called on the monitor's own thread, one call at a
/// time, and must not stop the monitor.
public final class PipeWireSinkMonitor: SinkMonitor, @unchecked Sendable {
  private static let retryInterval: Int64 = 500_000_000

  private let loop: ThreadedLoop
  private let connection: Connection
  private let onChange: @Sendable ([Sink]) -> Void
  private let known = Mutex<[Sink]>([])
  private let isStopped = Mutex(false)
  /// Owned by the loop's thread.
  private var retryTime: Int64 = 0

  /// Starts to observe the sinks.
  ///
  /// - Parameters:
  ///   - serverAddress: the name or the path of the server's socket; nil for the user's own server.
  ///   - onChange: receives the sinks when they are first known, and again whenever a sink appears,
  ///     changes or disappears or the default sink changes. Receives an empty array when the server
  ///     is lost.
  /// - Throws: `noPipeWire` if libpipewire is not installed or too old, or `systemFailure`.
  public init(
    serverAddress: String? = nil, onChange: @escaping @Sendable ([Sink]) -> Void
  ) throws(SoundServerError) {
    loop = try ThreadedLoop(name: "sink-monitor")
    connection = Connection(
      loop: loop, address: serverAddress, applicationName: "Stillstage", isRealtime: false)
    self.onChange = onChange
    // Not `unowned`: the last tick may run while this object is being released, and `deinit` waits
    // for that tick.
    let this = Unmanaged.passUnretained(self)
    loop.onTick = { this._withUnsafeGuaranteedRef { $0.attend() } }
    try loop.start()
  }

  deinit { stop() }

  public var sinks: [Sink] { known.withLock { $0 } }

  public func stop() {
    let isFirst = isStopped.withLock { isStopped in
      defer { isStopped = true }
      return !isStopped
    }
    guard isFirst else { return }
    loop.stop()
    connection.destroy()
  }

  private func attend() {
    let now = monotonic_nanoseconds()
    if connection.core == nil {
      guard now >= retryTime else { return }
      retryTime = now + Self.retryInterval
      if !connection.open() { connection.close() }
    } else if !connection.isGood {
      connection.close()
      retryTime = now + Self.retryInterval
      tell([])
    } else if connection.isSettled, let graph = connection.graph {
      tell(graph.sinks)
    }
  }

  private func tell(_ sinks: [Sink]) {
    let isNews = known.withLock { known in
      defer { known = sinks }
      return known != sinks
    }
    if isNews { onChange(sinks) }
  }
}
