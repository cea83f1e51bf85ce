// SPDX-License-Identifier: Apache-2.0

public import SoundServer

/// Reads the sinks of a server.
public enum PulseSinkList {
  /// Returns the server's sinks, in the server's order.
  ///
  /// - Parameters:
  ///   - serverAddress: see `AudioOutputConfiguration.serverAddress`.
  ///   - timeoutMilliseconds: the longest total wait for the server's answers.
  /// - Throws: `noServer`, `serverSilent` or `systemFailure`.
  public static func read(
    serverAddress: String? = nil, timeoutMilliseconds: Int = 2000
  ) throws(SoundServerError) -> [Sink] {
    let connection = try ClientConnection(
      serverAddress: serverAddress, applicationName: "Stillstage",
      timeoutMilliseconds: timeoutMilliseconds)
    defer { connection.close() }
    return try connection.loop.locked { () throws(SoundServerError) in try connection.devices() }
  }
}
