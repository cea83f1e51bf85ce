// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import SoundServer

/// A blocking connection to the server for one task. All steps share one deadline.
final class ClientConnection {
  let loop: ThreadedLoop
  let address: String?
  private(set) var context: OpaquePointer?
  private let timeoutMilliseconds: Int
  private let deadline: Int64

  /// Connects to the server. The steps that follow must also end within `timeoutMilliseconds` from
  /// now.
  ///
  /// - Throws: `noServer`, `serverSilent` or `systemFailure`.
  init(
    serverAddress: String?, applicationName: String, timeoutMilliseconds: Int
  ) throws(SoundServerError) {
    loop = try ThreadedLoop(name: "pulse-client")
    address = serverAddress
    self.timeoutMilliseconds = timeoutMilliseconds
    deadline = monotonic_nanoseconds() + Int64(timeoutMilliseconds) * 1_000_000
    try loop.start()
    do {
      try loop.locked { () throws(SoundServerError) in try connect(applicationName) }
    } catch {
      close()
      throw error
    }
  }

  deinit { close() }

  /// Waits until a condition is true, with the loop's lock held.
  ///
  /// - Throws: `noServer` if the connection is lost, `serverSilent` if the deadline passes first,
  ///   `systemFailure` if there is no context.
  func wait(for condition: (OpaquePointer) -> Bool) throws(SoundServerError) {
    let place = describeServerAddress(address)
    guard let context else { throw .systemFailure(reason: "cannot create a context") }
    let inTime = loop.wait(untilNanoseconds: deadline) { condition(context) || !isGood(context) }
    guard isGood(context) else {
      throw .noServer(address: place, reason: lastError(of: context))
    }
    guard inTime else {
      throw .serverSilent(address: place, milliseconds: timeoutMilliseconds)
    }
  }

  func close() {
    loop.stop()
    dropContext()
  }

  private func connect(_ applicationName: String) throws(SoundServerError) {
    context = openContext(loop: loop, applicationName: applicationName, address: address) {
      pa_context_set_state_callback($0, { ThreadedLoop.with($1) { $0.signal() } }, loop.userdata)
    }
    try wait { pa_context_get_state($0) == PA_CONTEXT_READY }
  }

  func dropContext() {
    if let context { closeContext(context) }
    context = nil
  }
}
