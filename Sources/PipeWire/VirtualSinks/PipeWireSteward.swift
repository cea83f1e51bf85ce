// SPDX-License-Identifier: Apache-2.0

import CPipeWire
import CRealtime
import Glibc
package import SoundServer
import Synchronization

/// Observes a PipeWire server's sinks and streams, and changes where streams play.
///
/// The session manager (WirePlumber) stores a move that names the sink's serial number. The steward
/// uses the sink's name instead, so its moves are not stored.
package final class PipeWireSteward: StreamSteward, @unchecked Sendable {
  private static let retryInterval: Int64 = 500_000_000
  /// How long a stream must have been linked before it may be moved [ns]. WirePlumber 0.4 can leave
  /// a stream without any link if the stream is moved while its first link is being activated.
  private static let settlingTime: Int64 = 100_000_000

  private let loop: ThreadedLoop
  private let connection: Connection
  private let settings: SessionSettings
  private let onChange: @Sendable (ServerContents) -> Void
  private let known = Mutex(ServerContents())
  private let isStopped = Mutex(false)
  /// The earliest time of the next attempt to connect, in CLOCK_MONOTONIC nanoseconds. Only the
  /// loop's thread uses this property.
  private var retryTime: Int64 = 0
  /// For each linked stream, the time at which its link was first seen, in CLOCK_MONOTONIC
  /// nanoseconds. This property and the next one need the loop's lock.
  private var linkTimes: [UInt64: Int64] = [:]
  /// The moves that wait until their streams have settled: the sink's name for each stream.
  private var delayedMoves: [UInt64: String] = [:]

  /// Starts to observe the server.
  ///
  /// - Parameters:
  ///   - serverAddress: the name or the path of the server's socket; nil for the user's own server.
  ///   - settingsFolder: the folder of WirePlumber's settings; nil for the user's own folder.
  ///   - onChange: receives changed contents on the steward's own thread, or empty contents if the
  ///     server is lost. The closure must not call the steward's methods.
  /// - Throws: `noPipeWire` if libpipewire is not installed or too old, or `systemFailure`.
  package init(
    serverAddress: String? = nil, settingsFolder: String? = nil,
    onChange: @escaping @Sendable (ServerContents) -> Void
  ) throws(SoundServerError) {
    loop = try ThreadedLoop(name: "steward")
    connection = Connection(
      loop: loop, address: serverAddress, applicationName: "Stillstage", isRealtime: false,
      followsStreams: true)
    settings = SessionSettings(folder: settingsFolder)
    self.onChange = onChange
    // An `unowned` reference would fail, because a tick may still run while `deinit` waits for the
    // end of the loop.
    let this = Unmanaged.passUnretained(self)
    loop.onTick = { this._withUnsafeGuaranteedRef { $0.attend() } }
    try loop.start()
  }

  deinit { stop() }

  package var contents: ServerContents { known.withLock { $0 } }

  package func stop() {
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
      connection.open()
    } else if !connection.isGood {
      connection.close()
      retryTime = now + Self.retryInterval
      (linkTimes, delayedMoves) = ([:], [:])
      tell(ServerContents())
    } else if connection.isSettled, let graph = connection.graph {
      let contents = graph.contents
      followLinks(contents, now)
      tell(contents)
    }
  }

  /// Updates the link times, and performs the delayed moves of streams that have settled.
  private func followLinks(_ contents: ServerContents, _ now: Int64) {
    let linked = contents.streams.filter { $0.sink != nil }.map { ($0.id, linkTimes[$0.id] ?? now) }
    linkTimes = Dictionary(linked) { first, _ in first }
    let streams = Set(contents.streams.map(\.id))
    delayedMoves = delayedMoves.filter { streams.contains($0.key) }
    guard let graph = connection.graph, let metadata = graph.defaults else { return }
    for (stream, sink) in delayedMoves where hasSettled(stream, now) {
      delayedMoves[stream] = nil
      Self.move(stream, to: sink, graph, metadata)
    }
  }

  private func hasSettled(_ stream: UInt64, _ now: Int64) -> Bool {
    linkTimes[stream].map { now - $0 >= Self.settlingTime } ?? false
  }

  private func tell(_ contents: ServerContents) {
    let isNews = known.withLock { known in
      defer { known = contents }
      return known != contents
    }
    if isNews { onChange(contents) }
  }

  // MARK: Requests

  package func move(stream: UInt64, to sinkName: String) {
    request { graph, metadata in
      if hasSettled(stream, monotonic_nanoseconds()) {
        delayedMoves[stream] = nil
        Self.move(stream, to: sinkName, graph, metadata)
      } else {
        delayedMoves[stream] = sinkName
      }
    }
  }

  private static func move(
    _ stream: UInt64, to sinkName: String, _ graph: Graph, _ metadata: DefaultMetadata
  ) {
    guard let node = graph.nodeID(ofStream: stream),
      graph.sinks.contains(where: { $0.name == sinkName })
    else { return }
    metadata.set(node, DefaultMetadata.targetObject, to: sinkName)
  }

  package func setDefault(sinkName: String) {
    request { _, metadata in
      metadata.set(
        0, DefaultMetadata.configuredSink, type: "Spa:String:JSON", to: json(name: sinkName))
    }
  }

  package func forget(sinksWithPrefix prefix: String) {
    let isConnected = request { graph, metadata in
      if metadata.configuredSinkName?.hasPrefix(prefix) == true {
        metadata.set(0, DefaultMetadata.configuredSink, to: nil)
      }
      for (node, keys) in graph.targets(ofSinksWithPrefix: prefix) {
        for key in keys { metadata.set(node, key, to: nil) }
      }
      connection.ask()
    }
    // The session manager stores its settings 1 s after a change.
    if isConnected { usleep(1_400_000) }
    settings.remove(prefix: prefix)
  }

  /// Calls `body` with the loop's lock held, unless the steward was stopped or the server's
  /// metadata is unknown. Returns whether `body` was called.
  @discardableResult
  private func request(_ body: (Graph, DefaultMetadata) -> Void) -> Bool {
    guard !isStopped.withLock({ $0 }) else { return false }
    return loop.locked {
      guard connection.isGood, let graph = connection.graph, let metadata = graph.defaults else {
        return false
      }
      body(graph, metadata)
      return true
    }
  }
}

/// Returns the JSON object `{"name":...}`.
func json(name: String) -> String {
  let escaped = name.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] }
  return "{\"name\":\"\(String(escaped))\"}"
}
