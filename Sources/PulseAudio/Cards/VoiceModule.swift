// SPDX-License-Identifier: Apache-2.0

import Ambisonics
package import SoundServer
import System

/// The server's module for echo cancellation and noise suppression.
///
/// The module provides a sink and a source. The source supplies the sound of an input without the
/// echo of the sink's sound, which the module removes. When the module is loaded, its sink becomes
/// the default sink, and the streams on the former default sink are moved to it.
///
/// ## Threading
/// Use an instance from one thread at a time.
package final class VoiceModule: @unchecked Sendable {
  package static let sourceName = "stillstage_voice"
  package static let sinkName = "stillstage_voice_output"
  private static let moduleName = "module-echo-cancel"
  private static let timeout = 4000
  /// The options of the WebRTC method. They turn gain control off, because the method's default,
  /// analogue gain control, changes the volume of the input permanently.
  private static let method = "analog_gain_control=0 digital_gain_control=0"

  private let serverAddress: String?
  private var index: UInt32?
  /// The name of the sink to which the module plays the sound of its own sink.
  package private(set) var realSink: String

  /// Loads the module.
  ///
  /// - Parameters:
  ///   - source: the name of the input to process.
  ///   - channels: the number of channels of the input, 1 or 2.
  ///   - willLoad: receives the name of the default sink, or of the first sink if there is no
  ///     default, before the module is loaded.
  /// - Throws: the reason why the module cannot be loaded.
  package init(
    source: String, channels: Int, serverAddress: String? = nil,
    willLoad: (_ defaultSink: String) -> Void = { _ in }
  ) throws(SoundServerError) {
    self.serverAddress = serverAddress
    let connection = try Self.connect(serverAddress)
    defer { connection.close() }
    let (loaded, sink) = try connection.loop.locked {
      () throws(SoundServerError) -> (UInt32?, String) in
      try Self.remove(on: connection, fallback: nil) { !$0.isAlive }
      let sinks: [Sink] = try connection.devices()
      guard let real = sinks.first(where: \.isDefault) ?? sinks.first else {
        throw .noSink(address: describeServerAddress(serverAddress))
      }
      willLoad(real.name)
      let arguments = Self.arguments(source: source, sink: real.name, channels: channels)
      return (try connection.loadModule(Self.moduleName, arguments), real.name)
    }
    realSink = sink
    index = loaded
    guard loaded != nil else {
      throw .streamRefused(
        reason: "\(Self.moduleName) cannot be loaded, or it is already in use")
    }
    do throws(SoundServerError) {
      try connection.loop.locked { () throws(SoundServerError) in
        connection.renewDeadline()
        try Self.take(from: sink, to: Self.sinkName, on: connection)
      }
    } catch {
      unload()
      throw error
    }
  }

  private static func connect(_ address: String?) throws(SoundServerError) -> ClientConnection {
    try ClientConnection(
      serverAddress: address, applicationName: "Stillstage", timeoutMilliseconds: timeout)
  }

  private static func arguments(source: String, sink: String, channels: Int) -> String {
    let map = channels == 1 ? "mono" : "front-left,front-right"
    let owner = "\(SinkOwner.property)=\"\(SinkOwner.current.text)\""
    return "source_name=\(sourceName) sink_name=\(sinkName) source_master=\(source) "
      + "sink_master=\(sink) aec_method=webrtc rate=48000 channels=\(channels) channel_map=\(map) "
      + "aec_args=\"\(method)\" "
      + "source_properties='device.description=\"Stillstage voice\" \(owner)' "
      + "sink_properties='device.description=\"Stillstage voice output\" \(owner)'"
  }

  /// Makes `target` the default sink, and moves the streams on `sink` to `target`.
  private static func take(
    from sink: String, to target: String, on connection: ClientConnection
  ) throws(SoundServerError) {
    let streams = try connection.streams(on: sink)
    try connection.setDefault(sinkName: target)
    for stream in streams { try connection.move(stream: stream, to: target) }
  }

  /// Unloads the module. `realSink` receives the streams of the module's sink, and becomes the
  /// default if the module's sink is the default. The server chooses a sink if `realSink` does not
  /// exist.
  package func unload() {
    guard index != nil else { return }
    index = nil
    guard let connection = try? Self.connect(serverAddress) else { return }
    defer { connection.close() }
    let sink = realSink
    connection.loop.locked {
      try? Self.remove(on: connection, fallback: sink) { $0 == .current }
    }
  }

  /// Unloads the modules of processes that have ended.
  ///
  /// - Parameter fallback: the sink that receives the streams of the module's sink, and becomes the
  ///   default if the module's sink is the default. The server chooses a sink if `fallback` is nil
  ///   or does not exist.
  package static func removeOrphans(
    serverAddress: String? = nil, fallback: String?
  ) throws(SoundServerError) {
    let connection = try connect(serverAddress)
    defer { connection.close() }
    try connection.loop.locked { () throws(SoundServerError) in
      try remove(on: connection, fallback: fallback) { !$0.isAlive }
    }
  }

  private static func remove(
    on connection: ClientConnection, fallback: String?, where isRemoved: (SinkOwner) -> Bool
  ) throws(SoundServerError) {
    let modules = try connection.modules().filter { module in
      module.name == moduleName && module.owner.map(isRemoved) ?? false
    }
    guard !modules.isEmpty else { return }
    let sinks: [Sink] = try connection.devices()
    let target = fallback.flatMap { name in sinks.contains { $0.name == name } ? name : nil }
    if let target {
      if sinks.first(where: \.isDefault)?.name == sinkName {
        try connection.setDefault(sinkName: target)
      }
      let streams = try connection.streams(on: sinkName)
      for stream in streams { try connection.move(stream: stream, to: target) }
    }
    for module in modules { try connection.unloadModule(module.index) }
    try connection.forgetDevices(withPrefix: sourceName)
  }
}
