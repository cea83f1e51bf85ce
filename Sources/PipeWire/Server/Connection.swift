// SPDX-License-Identifier: Apache-2.0

import CPipeWire
import CRealtime
import Glibc
internal import SoundServer

/// A connection to a PipeWire server, and the objects that the server has described.
///
/// ## Threading
/// Use an instance on the loop's thread or with the loop's lock held.
final class Connection: CallbackTarget {
  let loop: ThreadedLoop
  let address: String?
  private(set) var core: OpaquePointer?
  private(set) var graph: Graph?
  /// The reason why there is no connection; nil without a failure.
  private(set) var failure: String?
  private(set) var version = ""
  /// The time of the server's last answer, in CLOCK_MONOTONIC nanoseconds; 0 before the first
  /// answer.
  private(set) var lastAnswer: Int64 = 0
  /// Whether the server has described all objects that it announced.
  private(set) var isSettled = false

  private var context: OpaquePointer?
  private let applicationName: String
  private let isRealtime: Bool
  private let followsStreams: Bool
  private var coreListener: Listener<pw_core_events>?
  private var question: Int32 = 0
  private var answer: Int32 = 0
  /// The value of `Graph.requests` at the last call of `ask`.
  private var requestsAtQuestion = 0

  private var pw: UnsafePointer<pipewire_library> { loop.library.functions }

  /// - Parameters:
  ///   - address: the name or the path of the server's socket; nil for the user's own server.
  ///   - isRealtime: whether the data thread asks for real-time scheduling.
  ///   - followsStreams: whether to follow the streams of programs.
  init(
    loop: ThreadedLoop, address: String?, applicationName: String, isRealtime: Bool,
    followsStreams: Bool = false
  ) {
    (self.loop, self.address, self.applicationName) = (loop, address, applicationName)
    (self.isRealtime, self.followsStreams) = (isRealtime, followsStreams)
  }

  /// Whether there is a connection that has not been lost.
  var isGood: Bool { core != nil && failure == nil }

  /// Begins to connect. Sets `failure` on an error.
  func open() {
    close()
    failure = nil
    isSettled = false
    if context == nil { context = makeContext() }
    guard let context else {
      failure = "cannot create a context (\(String(cString: strerror(errno))))"
      return
    }
    let properties = loop.library.properties([
      PW_KEY_REMOTE_NAME: address, PW_KEY_APP_NAME: applicationName,
    ])
    guard let core = pw.pointee.pw_context_connect(context, properties.raw(), 0) else {
      failure = String(cString: strerror(errno))
      return
    }
    self.core = core
    var events = pw_core_events()
    events.version = UInt32(PW_VERSION_CORE_EVENTS)
    events.info = { this, info in
      Connection.with(this) { connection in info.map { connection.take($0.pointee) } }
    }
    events.done = { this, _, sequence in Connection.with(this) { $0.answered(sequence) } }
    events.error = { this, id, _, result, text in
      Connection.with(this) { $0.failed(id, result, text.map { String(cString: $0) }) }
    }
    let listener = Listener(events)
    coreListener = listener
    pipewire_listen_core(core, listener.hook, listener.events, userdata)
    graph = Graph(
      core: core, library: loop.library, followsStreams: followsStreams,
      onChange: { [unowned self] in changed() })
    ask()
  }

  /// Closes the connection without waiting for the server.
  func close() {
    graph?.close()
    graph = nil
    coreListener?.remove()
    coreListener = nil
    if let core { _ = pw.pointee.pw_core_disconnect(core) }
    core = nil
    lastAnswer = 0
  }

  /// Closes the connection and ends the data thread.
  func destroy() {
    close()
    if let context { pw.pointee.pw_context_destroy(context) }
    context = nil
  }

  /// Sends a request whose answer arrives after the answers to all earlier requests.
  func ask() {
    guard let core, let graph else { return }
    requestsAtQuestion = graph.requests
    question = pipewire_sync(core, question)
  }

  private func makeContext() -> OpaquePointer? {
    // With this configuration, the data thread asks for real-time scheduling.
    if isRealtime,
      let context = pw.pointee.pw_context_new(
        loop.loop, loop.library.properties([PW_KEY_CONFIG_NAME: "client-rt.conf"]).raw(), 0)
    {
      return context
    }
    return pw.pointee.pw_context_new(loop.loop, nil, 0)
  }

  // MARK: Callbacks

  private func take(_ info: pw_core_info) {
    version = info.version.map { String(cString: $0) } ?? ""
    let rate = pipewire_value(info.props, "default.clock.rate").flatMap { Int(String(cString: $0)) }
    if let rate { graph?.defaultRate = rate }
    changed()
  }

  private func answered(_ sequence: Int32) {
    lastAnswer = monotonic_nanoseconds()
    answer = sequence
    guard sequence == question, let graph else { return loop.kick() }
    if graph.requests == requestsAtQuestion { isSettled = true } else { ask() }
    loop.kick()
  }

  private func failed(_ id: UInt32, _ result: Int32, _ text: String?) {
    // Only EPIPE for the core object means that the connection has ended.
    guard id == PW_ID_CORE, result == -EPIPE else { return }
    failure = "Connection terminated"
    loop.kick()
  }

  /// Notes a change of the graph. If the graph has made new requests, it is not settled until the
  /// server has answered them.
  private func changed() {
    guard let graph else { return }
    if graph.requests != requestsAtQuestion {
      isSettled = false
      if answer == question { ask() }
    }
    loop.kick()
  }
}

extension Connection: DeviceConnection {
  var isOpen: Bool { core != nil }

  func readDevices() -> [Sink]? { isSettled ? graph?.sinks : nil }
}

extension OpaquePointer? {
  /// Returns the pointer as the type that a libpipewire function takes.
  func raw<Value>() -> UnsafeMutablePointer<Value>? { map { UnsafeMutablePointer($0) } }
}
