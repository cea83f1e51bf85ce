// SPDX-License-Identifier: Apache-2.0

import CPulse
public import SoundServer

/// Removes virtual sinks from a server, and removes references to them from its stored settings.
///
/// ## Threading
/// Call `clean` with the lock of the connection's loop held.
struct SinkCleaner {
  let connection: ClientConnection

  /// Removes the virtual sinks that `isRemoved` selects. Their streams move to the default sink.
  ///
  /// - Parameters:
  ///   - fallback: the new default sink if a removed sink is the default. If it is nil or is not a
  ///     remaining sink, the server chooses.
  ///   - isRemoved: returns whether to remove the virtual sink with this name and owner.
  func clean(
    fallback: String?, where isRemoved: (String, SinkOwner) -> Bool
  ) throws(SoundServerError) {
    var removed: [String: UInt32] = [:]
    for module in try connection.modules() {
      guard let sink = module.virtualSink, isRemoved(sink.name, sink.owner) else { continue }
      removed[sink.name] = module.index
    }
    guard !removed.isEmpty else { return }
    let sinks: [Sink] = try connection.devices()
    let isOurs = sinks.first(where: \.isDefault).map { removed[$0.name] != nil } ?? false
    let target = sinks.map(\.name).first { $0 == fallback && removed[$0] == nil }
    if isOurs, let target { try connection.setDefault(sinkName: target) }
    for name in removed.keys { try connection.forgetDevices(withPrefix: name) }
    // The server moves the streams of a removed sink to the default sink. Unlike a request to
    // move the streams, this leaves no entry in the server's stored settings.
    for index in removed.values { try connection.unloadModule(index) }
  }
}

/// Cleans up after processes that ended without a clean-up.
public enum PulseOrphans {
  /// Removes the virtual sinks and the FIFOs of processes that have ended.
  ///
  /// - Parameters:
  ///   - serverAddress: see `AudioOutputConfiguration.serverAddress`.
  ///   - fallback: the new default sink if a removed sink is the default. If it is nil or is not a
  ///     remaining sink, the server chooses.
  ///   - prefix: the beginning of the names of the sinks to remove.
  ///   - timeoutMilliseconds: the longest total wait for the server's answers.
  /// - Throws: `noServer`, `serverSilent` or `systemFailure`.
  public static func remove(
    serverAddress: String? = nil, fallback: String? = nil, prefix: String = "stillstage-",
    timeoutMilliseconds: Int = 2000
  ) throws(SoundServerError) {
    (try? SinkFolder(in: nil))?.deleteOrphans()
    let connection = try ClientConnection(
      serverAddress: serverAddress, applicationName: "Stillstage",
      timeoutMilliseconds: timeoutMilliseconds)
    defer { connection.close() }
    try connection.loop.locked { () throws(SoundServerError) in
      try SinkCleaner(connection: connection).clean(fallback: fallback) {
        $0.hasPrefix(prefix) && !$1.isAlive
      }
    }
  }
}
