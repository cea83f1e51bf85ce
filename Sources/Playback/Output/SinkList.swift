// SPDX-License-Identifier: Apache-2.0

private import PulseAudio
public import SoundServer

/// Reads the sinks of the user's sound server.
public enum SinkList {
  /// Returns the server's sinks, in the server's order. Blocks for at most `timeoutMilliseconds`.
  ///
  /// - Parameters:
  ///   - serverAddress: see `PlayerOptions.serverAddress`.
  ///   - timeoutMilliseconds: the time that the server has to answer.
  /// - Throws: `noServer`, `serverSilent` or `systemFailure`.
  public static func read(
    serverAddress: String? = nil, timeoutMilliseconds: Int = 2000
  ) throws(SoundServerError) -> [Sink] {
    try PulseSinkList.read(serverAddress: serverAddress, timeoutMilliseconds: timeoutMilliseconds)
  }
}
