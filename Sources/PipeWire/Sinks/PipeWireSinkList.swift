// SPDX-License-Identifier: Apache-2.0

import CRealtime
public import SoundServer

/// Reads the sinks of a PipeWire server.
public enum PipeWireSinkList {
  /// Returns the server's sinks, in the order of their IDs.
  ///
  /// - Parameters:
  ///   - serverAddress: the name or the path of the server's socket; nil for the user's own server.
  ///   - timeoutMilliseconds: the longest total wait for the server's answers.
  /// - Throws: `noPipeWire`, `serverSilent` or `systemFailure`.
  public static func read(
    serverAddress: String? = nil, timeoutMilliseconds: Int = 2000
  ) throws(SoundServerError) -> [Sink] {
    let loop = try ThreadedLoop(name: "pipewire-client")
    let connection = Connection(
      loop: loop, address: serverAddress, applicationName: "Stillstage", isRealtime: false)
    defer {
      loop.stop()
      connection.destroy()
    }
    try loop.start()
    return try loop.locked { () throws(SoundServerError) in
      let address = describeServerAddress(serverAddress)
      let deadline = monotonic_nanoseconds() + Int64(timeoutMilliseconds) * 1_000_000
      connection.open()
      let isInTime = loop.wait(untilNanoseconds: deadline) {
        connection.isSettled || !connection.isGood
      }
      if let failure = connection.failure {
        throw .noPipeWire(reason: "no connection to \(address): \(failure)")
      }
      guard isInTime else {
        throw .serverSilent(address: address, milliseconds: timeoutMilliseconds)
      }
      return connection.graph?.sinks ?? []
    }
  }
}
