// SPDX-License-Identifier: Apache-2.0

import CPulse
import CRealtime
import SoundServer

/// A connection to the server, with its own loop. Each request waits for its answer.
final class ClientConnection {
  let loop: ThreadedLoop
  let connection: Connection
  private let timeoutMilliseconds: Int
  private var deadline: Int64

  /// Connects to the server. The timeout begins now and also applies to later calls of `wait`,
  /// unless `renewDeadline` restarts it.
  ///
  /// - Throws: `noServer`, `serverSilent` or `systemFailure`.
  init(
    serverAddress: String?, applicationName: String, timeoutMilliseconds: Int
  ) throws(SoundServerError) {
    loop = try ThreadedLoop(name: "pulse-client")
    connection = Connection(
      loop: loop, address: serverAddress, applicationName: applicationName)
    self.timeoutMilliseconds = timeoutMilliseconds
    deadline = monotonic_nanoseconds() + Int64(timeoutMilliseconds) * 1_000_000
    try loop.start()
    do {
      try loop.locked { () throws(SoundServerError) in
        connection.open()
        try wait { pa_context_get_state($0) == PA_CONTEXT_READY }
      }
    } catch {
      close()
      throw error
    }
  }

  deinit { close() }

  /// Waits until a condition is true. Call it with the loop's lock held.
  ///
  /// - Throws: `noServer` if the connection fails, `serverSilent` if the deadline passes,
  ///   `systemFailure` if there is no context.
  func wait(for condition: (OpaquePointer) -> Bool) throws(SoundServerError) {
    let place = describeServerAddress(connection.address)
    guard let context = connection.context else {
      throw .systemFailure(
        reason: "\(connection.lastError); close other programs and try again")
    }
    let inTime = loop.wait(untilNanoseconds: deadline) {
      condition(context) || !connection.isGood
    }
    guard connection.isGood else {
      throw .noServer(address: place, reason: connection.lastError)
    }
    guard inTime else {
      throw .serverSilent(address: place, milliseconds: timeoutMilliseconds)
    }
  }

  /// Restarts the timeout for the following calls of `wait`.
  func renewDeadline() {
    deadline = monotonic_nanoseconds() + Int64(timeoutMilliseconds) * 1_000_000
  }

  func close() {
    loop.stop()
    connection.close()
  }
}
