// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime

/// A plain connection for one purpose: every step waits, but no longer than to a deadline.
final class ClientConnection {
  let loop: ThreadedLoop
  let address: String?
  private(set) var context: OpaquePointer?
  private let timeoutMilliseconds: Int
  private let deadline: Int64

  /// Connects within `timeoutMilliseconds`, which the steps that follow share.
  init(
    serverAddress: String?, applicationName: String, timeoutMilliseconds: Int
  ) throws(PulseAudioError) {
    loop = try ThreadedLoop(name: "pulse-client")
    address = serverAddress
    self.timeoutMilliseconds = timeoutMilliseconds
    deadline = monotonic_nanoseconds() + Int64(timeoutMilliseconds) * 1_000_000
    try loop.start()
    do {
      try loop.locked { () throws(PulseAudioError) in try connect(applicationName) }
    } catch {
      close()
      throw error
    }
  }

  deinit { close() }

  /// With the loop's lock held; throws when the connection is lost or the deadline passes first.
  func wait(for condition: (OpaquePointer) -> Bool) throws(PulseAudioError) {
    let place = describeServerAddress(address)
    guard let context else { throw .systemFailure(reason: "no context") }
    let inTime = loop.wait(untilNanoseconds: deadline) { condition(context) || !isGood(context) }
    guard isGood(context) else {
      throw .noServer(address: place, reason: lastError(of: context))
    }
    guard inTime else {
      throw .serverSilent(address: place, milliseconds: timeoutMilliseconds)
    }
  }

  /// The server's sinks and the name of its default; with the loop's lock held.
  func sinks() throws(PulseAudioError) -> [Sink] {
    guard let context else { throw .systemFailure(reason: "no context") }
    let defaultSink = DefaultSink()
    let collector = SinkCollector()
    release(
      pa_context_get_server_info(
        context, serverInfoArrives, Unmanaged.passUnretained(defaultSink).toOpaque()))
    collector.request(from: context)
    // The operations point to the two objects: they must not outlive them.
    defer { if !collector.isComplete || !defaultSink.isComplete { dropContext() } }
    try wait { _ in collector.isComplete && defaultSink.isComplete }
    return collector.sinks.map { sink in
      var sink = sink
      sink.isDefault = sink.name == defaultSink.name
      return sink
    }
  }

  func close() {
    loop.stop()
    dropContext()
  }

  private func connect(_ applicationName: String) throws(PulseAudioError) {
    let userdata = Unmanaged.passUnretained(loop).toOpaque()
    context = openContext(loop: loop, applicationName: applicationName, address: address) {
      pa_context_set_state_callback($0, clientContextChanges, userdata)
    }
    try wait { pa_context_get_state($0) == PA_CONTEXT_READY }
  }

  private func dropContext() {
    if let context { closeContext(context) }
    context = nil
  }
}

private final class DefaultSink {
  var name = ""
  var isComplete = false
}

private func clientContextChanges(_ context: OpaquePointer?, _ loop: UnsafeMutableRawPointer?) {
  guard let loop else { return }
  Unmanaged<ThreadedLoop>.fromOpaque(loop)._withUnsafeGuaranteedRef {
    pa_threaded_mainloop_signal($0.handle, 0)
  }
}

private func serverInfoArrives(
  _ context: OpaquePointer?, _ info: UnsafePointer<pa_server_info>?,
  _ result: UnsafeMutableRawPointer?
) {
  guard let result else { return }
  Unmanaged<DefaultSink>.fromOpaque(result)._withUnsafeGuaranteedRef {
    $0.name = info?.pointee.default_sink_name.map { String(cString: $0) } ?? ""
    $0.isComplete = true
  }
}
