// SPDX-License-Identifier: Apache-2.0

public import SoundServer

/// Reads the sinks of a sound server.
public enum SinkList {
  /// Returns the server's sinks, in the server's order. The automatic choice of the server can take
  /// half a second in addition to `timeoutMilliseconds`.
  ///
  /// - Parameters:
  ///   - output: see `PlayerOptions.output`.
  ///   - serverAddress: see `PlayerOptions.serverAddress`.
  ///   - timeoutMilliseconds: the longest wait for the chosen server's answer.
  /// - Throws: `noServer`, `noPipeWire`, `serverSilent` or `systemFailure`.
  public static func read(
    output: OutputChoice = .automatic, serverAddress: String? = nil, timeoutMilliseconds: Int = 2000
  ) throws(SoundServerError) -> [Sink] {
    try SoundServerClient(output, serverAddress: serverAddress)
      .sinks(timeoutMilliseconds: timeoutMilliseconds)
  }
}
