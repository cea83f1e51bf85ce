// SPDX-License-Identifier: Apache-2.0

import CPulse
public import SoundServer

/// Reads the sources of a server.
public enum SourceList {
  /// Returns the server's sources, in the server's order. Blocks for at most `timeoutMilliseconds`.
  ///
  /// - Parameters:
  ///   - serverAddress: see `AudioOutputConfiguration.serverAddress`.
  ///   - timeoutMilliseconds: the longest wait for the server's answer.
  /// - Throws: `noServer`, `serverSilent` or `systemFailure`.
  public static func read(
    serverAddress: String? = nil, timeoutMilliseconds: Int = 2000
  ) throws(SoundServerError) -> [Source] {
    let connection = try ClientConnection(
      serverAddress: serverAddress, applicationName: "Stillstage",
      timeoutMilliseconds: timeoutMilliseconds)
    defer { connection.close() }
    return try connection.loop.locked { () throws(SoundServerError) in try connection.sources() }
  }
}

extension ClientConnection {
  /// Returns the server's sources. Call it with the loop's lock held.
  fileprivate func sources() throws(SoundServerError) -> [Source] {
    guard let context else { throw .systemFailure(reason: "cannot create a context") }
    let collector = SourceCollector(onComplete: loop.signal)
    collector.request(from: context)
    // The pending operations point to the collector, so they must not outlive it.
    defer { if !collector.isComplete { dropContext() } }
    try wait { _ in collector.isComplete }
    return collector.sources
  }
}

/// Collects a source list and the default source from the callbacks that deliver them.
///
/// ## Threading
/// Use it only with the loop's lock held.
final class SourceCollector: CallbackTarget {
  private var list: [Source] = []
  private var isListComplete = false
  private var defaultName: String?
  private var isDefaultAwaited = false
  /// Called when everything that was requested has arrived.
  private let onComplete: () -> Void

  init(onComplete: @escaping () -> Void) { self.onComplete = onComplete }

  var isComplete: Bool { isListComplete && !isDefaultAwaited }
  /// The sources, in the server's order.
  var sources: [Source] {
    list.map { source in
      var source = source
      source.isDefault = source.name == defaultName
      return source
    }
  }

  /// Requests the list of sources and the name of the default source.
  func request(from context: OpaquePointer) {
    list = []
    (isListComplete, isDefaultAwaited) = (false, true)
    release(
      pa_context_get_server_info(
        context,
        { _, info, this in
          SourceCollector.with(this) { $0.take(info) }
        }, userdata))
    release(
      pa_context_get_source_info_list(
        context,
        { _, info, end, this in
          SourceCollector.with(this) { $0.take(info, isLast: end != 0) }
        }, userdata))
  }

  private func take(_ server: UnsafePointer<pa_server_info>?) {
    defaultName = server?.pointee.default_source_name.map { String(cString: $0) } ?? ""
    isDefaultAwaited = false
    if isComplete { onComplete() }
  }

  private func take(_ info: UnsafePointer<pa_source_info>?, isLast: Bool) {
    if let info, !isLast { list.append(Source(info.pointee)) }
    guard isLast else { return }
    isListComplete = true
    if isComplete { onComplete() }
  }
}

/// Requests calls of the context's subscribe callback whenever a source, a card or the server
/// changes.
func subscribeToSources(_ context: OpaquePointer) {
  let changes = pa_subscription_mask_t(
    rawValue: PA_SUBSCRIPTION_MASK_SOURCE.rawValue | PA_SUBSCRIPTION_MASK_SERVER.rawValue
      | PA_SUBSCRIPTION_MASK_CARD.rawValue)
  release(pa_context_subscribe(context, changes, nil, nil))
}
