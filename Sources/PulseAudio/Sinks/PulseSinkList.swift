// SPDX-License-Identifier: Apache-2.0

import CPulse
public import SoundServer

/// Reads the sinks of a server.
public enum PulseSinkList {
  /// Returns the server's sinks, in the server's order. Blocks for at most `timeoutMilliseconds`.
  ///
  /// - Parameters:
  ///   - serverAddress: see `AudioOutputConfiguration.serverAddress`.
  ///   - timeoutMilliseconds: the time within which the server must answer, in total.
  /// - Throws: `noServer`, `serverSilent` or `systemFailure`.
  public static func read(
    serverAddress: String? = nil, timeoutMilliseconds: Int = 2000
  ) throws(SoundServerError) -> [Sink] {
    let connection = try ClientConnection(
      serverAddress: serverAddress, applicationName: "Stillstage",
      timeoutMilliseconds: timeoutMilliseconds)
    defer { connection.close() }
    return try connection.loop.locked { () throws(SoundServerError) in try connection.sinks() }
  }
}

extension ClientConnection {
  /// Returns the server's sinks. Call it with the loop's lock held.
  ///
  /// - Throws: `noServer`, `serverSilent` or `systemFailure`.
  func sinks() throws(SoundServerError) -> [Sink] {
    guard let context else { throw .systemFailure(reason: "cannot create a context") }
    let collector = SinkCollector(onComplete: loop.signal)
    collector.requestWithDefault(from: context)
    // The pending operations point to the collector, so they must not outlive it.
    defer { if !collector.isComplete { dropContext() } }
    try wait { _ in collector.isComplete }
    return collector.sinks
  }
}

/// Collects a sink list from the callbacks that deliver it.
///
/// ## Threading
/// Use it only with the loop's lock held.
final class SinkCollector: CallbackTarget {
  private var list: [Sink] = []
  private var isListComplete = false
  private var defaultName: String?
  private var isDefaultAwaited = false
  /// Called when everything that was requested has arrived.
  private let onComplete: () -> Void

  init(onComplete: @escaping () -> Void = {}) { self.onComplete = onComplete }

  var isComplete: Bool { isListComplete && !isDefaultAwaited }
  var names: [String] { list.map(\.name) }
  /// The sinks, in the server's order. The default sink is marked only after `requestWithDefault`.
  var sinks: [Sink] {
    list.map { sink in
      var sink = sink
      sink.isDefault = sink.name == defaultName
      return sink
    }
  }

  /// Requests the list of sinks.
  func request(from context: OpaquePointer) {
    list = []
    isListComplete = false
    release(
      pa_context_get_sink_info_list(
        context,
        { _, info, end, this in
          SinkCollector.with(this) { $0.take(info, isLast: end != 0) }
        }, userdata))
  }

  /// Requests the list of sinks and the name of the default sink.
  func requestWithDefault(from context: OpaquePointer) {
    isDefaultAwaited = true
    release(
      pa_context_get_server_info(
        context,
        { _, info, this in
          SinkCollector.with(this) { $0.take(info) }
        }, userdata))
    request(from: context)
  }

  private func take(_ server: UnsafePointer<pa_server_info>?) {
    defaultName = server?.pointee.default_sink_name.map { String(cString: $0) } ?? ""
    isDefaultAwaited = false
    if isComplete { onComplete() }
  }

  private func take(_ info: UnsafePointer<pa_sink_info>?, isLast: Bool) {
    if let info, !isLast { list.append(Sink(info.pointee)) }
    guard isLast else { return }
    isListComplete = true
    if isComplete { onComplete() }
  }
}
