// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import CPulse
import Glibc
import SoundServer
import System

/// The server's module that provides a virtual sink.
///
/// ## Threading
/// Use it from one thread at a time.
final class SinkModule {
  private let configuration: VirtualSinkConfiguration
  enum Kind {
    case pipe(path: String)
    case null

    fileprivate var name: String {
      switch self {
      case .pipe: "module-pipe-sink"
      case .null: "module-null-sink"
      }
    }

    fileprivate var arguments: String {
      switch self {
      case .pipe(let path): "file='\(path)'"
      case .null: "norewinds=1"
      }
    }
  }

  private let kind: Kind
  private var connection: ClientConnection?
  private var index: UInt32?

  init(_ configuration: VirtualSinkConfiguration, kind: Kind) {
    (self.configuration, self.kind) = (configuration, kind)
  }

  /// Loads the module unless it is loaded. First removes a sink of the same name that a dead
  /// process left behind.
  ///
  /// - Throws: `noServer`, `serverSilent`, `streamRefused` or `systemFailure`.
  func load() throws(SoundServerError) {
    if isLoaded { return }
    drop()
    let connection = try ClientConnection(
      serverAddress: configuration.output.serverAddress,
      applicationName: configuration.output.applicationName,
      timeoutMilliseconds: configuration.output.connectTimeoutMilliseconds)
    self.connection = connection
    index = try connection.loop.locked { () throws(SoundServerError) in
      let name = configuration.name
      try SinkCleaner(connection: connection).clean(fallback: nil) { $0 == name && !$1.isAlive }
      let sinks: [Sink] = try connection.devices()
      guard !sinks.contains(where: { $0.name == name }) else {
        throw .streamRefused(reason: "a sink named '\(name)' already exists")
      }
      return try connection.loadModule(kind.name, arguments)
    }
    guard index != nil else {
      throw .streamRefused(reason: "\(kind.name) cannot be loaded")
    }
  }

  /// Whether `load` has loaded the module and the connection to the server still works.
  var isLoaded: Bool {
    guard let connection, index != nil else { return false }
    return connection.loop.locked { connection.connection.isGood }
  }

  /// Unloads the module, waits for the server's answer and closes the connection.
  func unload() {
    if let connection, let index, isLoaded {
      connection.loop.locked {
        connection.renewDeadline()
        try? connection.unloadModule(index)
      }
    }
    drop()
  }

  /// Closes the connection without unloading the module.
  func drop() {
    connection?.close()
    (connection, index) = (nil, nil)
  }

  private var arguments: String {
    let title = configuration.title.filter { !"\"'\\".contains($0) }
    return "sink_name=\(configuration.name) \(kind.arguments) format=float32le "
      + "rate=\(configuration.output.sampleRate) channels=\(configuration.layout.channelCount) "
      + "channel_map=\(configuration.layout.pulseChannelMap ?? "") "
      + "sink_properties='device.description=\"\(title)\" "
      + "\(SinkOwner.property)=\"\(SinkOwner.current.text)\"'"
  }
}
