// SPDX-License-Identifier: Apache-2.0

/// The sinks of a server.
public enum SinkList {
  /// Asks the server for its sinks, in its order. Blocks for at most `timeoutMilliseconds`.
  ///
  /// - Parameters:
  ///   - serverAddress: as `AudioOutputConfiguration.serverAddress`.
  ///   - timeoutMilliseconds: how long the server may take to answer.
  public static func read(
    serverAddress: String? = nil, timeoutMilliseconds: Int = 2000
  ) throws(PulseAudioError) -> [Sink] {
    let connection = try ClientConnection(
      serverAddress: serverAddress, applicationName: "Stillstage",
      timeoutMilliseconds: timeoutMilliseconds)
    defer { connection.close() }
    return try connection.loop.locked { () throws(PulseAudioError) in try connection.sinks() }
  }
}
