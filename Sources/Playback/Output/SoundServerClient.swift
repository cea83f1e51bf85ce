// SPDX-License-Identifier: Apache-2.0

private import Glibc
private import PipeWire
private import PulseAudio
internal import SoundServer

/// The protocol and the address of a sound server.
enum SoundServerClient: Equatable {
  /// A server with PulseAudio's protocol, at this address; nil for libpulse's default.
  case pulseAudio(String?)
  /// A PipeWire server, by the name or the path of its socket; nil for the user's own server.
  case pipeWire(String?)

  /// How long to wait for an answer from PipeWire before PulseAudio is used [ms].
  private static let probeMilliseconds = 500

  /// Chooses the server. The call can block for half a second.
  ///
  /// The automatic choice is PipeWire if `permitsPipeWire` allows it and a PipeWire server answers
  /// and has sinks. Otherwise, it is PulseAudio.
  init(_ choice: OutputChoice, serverAddress: String?) {
    switch choice {
    case .pulseAudio: self = .pulseAudio(serverAddress)
    case .pipeWire: self = .pipeWire(serverAddress)
    case .automatic:
      let named = getenv("PULSE_SERVER").map { String(cString: $0) }
      let folder = (getenv("PIPEWIRE_RUNTIME_DIR") ?? getenv("XDG_RUNTIME_DIR")).map {
        String(cString: $0)
      }
      let isFree = Self.permitsPipeWire(
        address: serverAddress, pulseServer: named, runtimeFolder: folder)
      self = isFree && Self.isPipeWireInUse ? .pipeWire(nil) : .pulseAudio(serverAddress)
    }
  }

  /// Returns whether the automatic choice may be PipeWire. No address may be given, and
  /// `PULSE_SERVER` must be empty, unset or the PulseAudio socket in the runtime folder.
  static func permitsPipeWire(
    address: String?, pulseServer: String?, runtimeFolder: String?
  ) -> Bool {
    guard address == nil else { return false }
    guard let pulseServer, !pulseServer.isEmpty else { return true }
    let path = pulseServer.hasPrefix("unix:") ? String(pulseServer.dropFirst(5)) : pulseServer
    return runtimeFolder.map { path == $0 + "/pulse/native" } ?? false
  }

  /// Whether a PipeWire server answers and has sinks. A server for video alone has none.
  private static var isPipeWireInUse: Bool {
    let sinks = try? PipeWireSinkList.read(timeoutMilliseconds: probeMilliseconds)
    return sinks?.isEmpty == false
  }

  /// Whether sound waits in the server's queue, so that it can be rendered again.
  var hasQueue: Bool { if case .pulseAudio = self { true } else { false } }

  func sinks(timeoutMilliseconds: Int = 2000) throws(SoundServerError) -> [Sink] {
    switch self {
    case .pulseAudio(let address):
      try PulseSinkList.read(serverAddress: address, timeoutMilliseconds: timeoutMilliseconds)
    case .pipeWire(let address):
      try PipeWireSinkList.read(serverAddress: address, timeoutMilliseconds: timeoutMilliseconds)
    }
  }

  func monitor(
    onChange: @escaping @Sendable ([Sink]) -> Void
  ) throws(SoundServerError) -> any SinkMonitor {
    switch self {
    case .pulseAudio(let address):
      try PulseSinkMonitor(serverAddress: address, onChange: onChange)
    case .pipeWire(let address):
      try PipeWireSinkMonitor(serverAddress: address, onChange: onChange)
    }
  }

  /// Prepares an output on this server. Ignores the server's address in `configuration`.
  func output(
    _ configuration: AudioOutputConfiguration, render: AudioRenderCallback
  ) throws(SoundServerError) -> any AudioOutput {
    var configuration = configuration
    switch self {
    case .pulseAudio(let address):
      configuration.serverAddress = address
      return try PulseOutput(configuration, render: render)
    case .pipeWire(let address):
      configuration.serverAddress = address
      return try PipeWireOutput(configuration, render: render)
    }
  }
}
