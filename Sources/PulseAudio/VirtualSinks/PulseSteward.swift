// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import Glibc
package import SoundServer
import Synchronization

/// Observes the sinks and streams of a PulseAudio server, moves streams and sets the default sink.
package final class PulseSteward: StreamSteward, @unchecked Sendable {
  private static let retryInterval: Int64 = 250_000_000

  private let loop: ThreadedLoop
  private let onChange: @Sendable (ServerContents) -> Void
  private let known = Mutex(ServerContents())
  private let isStopped = Mutex(false)

  // Use the following properties on the loop's thread or with the loop's lock held.
  private let connection: Connection
  private let collector: ContentsCollector
  private var isSubscribed = false
  private var isAsked = false
  /// Whether the contents must be requested.
  private var isStale = true
  private var retryTime: Int64 = 0

  /// Starts to observe the server.
  ///
  /// - Parameters:
  ///   - serverAddress: see `AudioOutputConfiguration.serverAddress`.
  ///   - onChange: receives changed contents on the steward's own thread, or empty contents if the
  ///     server is lost. The closure must not call `stop` or `forget`.
  /// - Throws: `systemFailure`.
  package init(
    serverAddress: String? = nil, onChange: @escaping @Sendable (ServerContents) -> Void
  ) throws(SoundServerError) {
    loop = try ThreadedLoop(name: "stream-steward")
    connection = Connection(loop: loop, address: serverAddress)
    collector = ContentsCollector(on: connection)
    self.onChange = onChange
    // An `unowned` reference would fail, because a tick may still run while `deinit` waits for the
    // end of the loop.
    let this = Unmanaged.passUnretained(self)
    connection.onEvent = { _, _ in this._withUnsafeGuaranteedRef { $0.objectChanged() } }
    loop.onTick = { this._withUnsafeGuaranteedRef { $0.attend() } }
    try loop.start()
  }

  deinit { stop() }

  package var contents: ServerContents { known.withLock { $0 } }

  package func move(stream: UInt64, to sinkName: String) {
    guard let index = UInt32(exactly: stream) else { return }
    send { release(pa_context_move_sink_input_by_name($0, index, sinkName, nil, nil)) }
  }

  package func setDefault(sinkName: String) {
    send { release(pa_context_set_default_sink($0, sinkName, nil, nil)) }
  }

  /// Removes the sinks whose names begin with `prefix` from the settings of module-stream-restore.
  package func forget(sinksWithPrefix prefix: String) {
    guard
      let connection = try? ClientConnection(
        serverAddress: connection.address, applicationName: "Stillstage", timeoutMilliseconds: 2000)
    else { return }
    defer { connection.close() }
    connection.loop.locked { try? connection.forgetDevices(withPrefix: prefix) }
  }

  package func stop() {
    let isFirst = isStopped.withLock { isStopped in
      defer { isStopped = true }
      return !isStopped
    }
    guard isFirst else { return }
    loop.stop()
    drop()
  }

  /// Sends a request if the connection is ready. Any thread may call this function, including the
  /// steward's own.
  private func send(_ request: (OpaquePointer) -> Void) {
    let isOwnThread = pa_threaded_mainloop_in_thread(loop.handle) != 0
    if !isOwnThread { pa_threaded_mainloop_lock(loop.handle) }
    defer { if !isOwnThread { pa_threaded_mainloop_unlock(loop.handle) } }
    guard connection.isReady, let context = connection.context else { return }
    request(context)
  }

  // MARK: Steps

  private func attend() {
    guard connection.context != nil else {
      if monotonic_nanoseconds() >= retryTime { connect() }
      return
    }
    guard connection.isGood else { return lose() }
    guard connection.isReady else { return }
    if !isSubscribed {
      connection.subscribe(
        to: pa_subscription_mask_t(
          rawValue: PA_SUBSCRIPTION_MASK_SINK.rawValue
            | PA_SUBSCRIPTION_MASK_SINK_INPUT.rawValue))
    }
    isSubscribed = true
    if isAsked, collector.isComplete {
      isAsked = false
      tell(collector.contents(without: Int(getpid())))
    }
    if isStale, !isAsked {
      (isAsked, isStale) = (true, false)
      collector.request()
    }
  }

  private func connect() {
    retryTime = monotonic_nanoseconds() + Self.retryInterval
    connection.open()
  }

  private func objectChanged() {
    isStale = true
    loop.kick()
  }

  private func tell(_ contents: ServerContents) {
    let isNews = known.withLock { known in
      defer { known = contents }
      return known != contents
    }
    if isNews { onChange(contents) }
  }

  private func lose() {
    drop()
    retryTime = monotonic_nanoseconds() + Self.retryInterval
    tell(ServerContents())
  }

  private func drop() {
    connection.close()
    (isSubscribed, isAsked, isStale) = (false, false, true)
  }
}
