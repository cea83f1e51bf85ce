// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import CommandOptions
import CommandSupport
import HeadTracking
import Laboratory
import Playback
import Rendering
import SoundSources

/// A combination of server, output mode and queue depth that `bench latency` measures.
struct LatencySetting: Codable, Hashable {
  enum Server: String, Codable, CaseIterable {
    case pulseaudio
    case pipewire
    /// The user's own server.
    case current
  }

  enum Output: String, Codable, CaseIterable {
    case appended
    case rewritten
    /// The sound is rendered in the cycles of PipeWire's graph, without a queue.
    case native
    /// Another program plays the sound through a virtual sink.
    case sink
  }

  var server: Server
  var output: Output
  /// The requested latency of queue and sink, or the length of PipeWire's cycle, in ms; nil for the
  /// default.
  var queueMilliseconds: Double?

  var layout: ChannelLayout {
    output == .sink ? SinkChain.layout.layout : BenchNoise.soundfield
  }

  /// Whether PipeWire's own protocol is used.
  var isNative: Bool { output == .native || output == .sink && server == .pipewire }

  func playerOptions(on server: LatencyServer, head: HeadPoseSource) -> PlayerOptions {
    var options = PlayerOptions()
    options.output = isNative ? .pipeWire : .pulseAudio
    options.serverAddress = isNative ? server.socketPath : server.address
    options.sinkName = server.sink
    options.head = .source(head)
    if let queueMilliseconds { options.latencyMilliseconds = queueMilliseconds }
    options.rewriting = output == .rewritten ? .automatic : .never
    options.interrupt = Signals.interrupt
    return options
  }

  /// Time before the first step, in seconds. On a private PipeWire server, a recording's delay
  /// needs time to settle.
  var warmUpSeconds: Double { server == .pipewire ? 20 : 1 }

  var title: String {
    let depth = queueMilliseconds.map { "\(decimal($0, 0)) ms" } ?? "default depth"
    return "\(server.rawValue), \(output.rawValue), \(depth)"
  }
}

final class LatencyServer {
  let address: String?
  /// The path of the private PipeWire server's own socket; nil for the other servers.
  private(set) var socketPath: String?
  /// The sink to play to and, unless another input is recorded, to record from; nil for the default
  /// sink.
  let sink: String?
  let timing: TimedCapture.Timing
  private var pulse: PrivatePulseServer?
  private var pipeWire: PrivatePipeWireServer?

  init(_ kind: LatencySetting.Server, sink: String?) throws(CommandFailure) {
    do {
      switch kind {
      case .pulseaudio:
        let server = try PrivatePulseServer()
        pulse = server
        (address, self.sink, timing) = (server.address, "ears", .reported)
      case .pipewire:
        let server = try PrivatePipeWireServer()
        pipeWire = server
        socketPath = server.socketPath
        (address, self.sink, timing) = (server.address, "ears", .arrival)
      case .current: (address, self.sink, timing) = (nil, sink, .reported)
      }
    } catch { throw CommandFailure("\(error)".withoutControls) }
  }

  func stop() {
    pulse?.stop()
    pipeWire?.stop()
    pulse = nil
    pipeWire = nil
  }

  /// Returns the first missing Debian package that a server needs; nil if none is missing.
  static func missingPackage(_ kind: LatencySetting.Server) -> String? {
    switch kind {
    case .pulseaudio: PrivatePulseServer.missingPackage
    case .pipewire: PrivatePipeWireServer.missingPackage
    case .current: nil
    }
  }
}

extension LatencySetting.Server {
  init(_ choice: LatencyServerChoice) {
    switch choice {
    case .pulseaudio: self = .pulseaudio
    case .pipewire: self = .pipewire
    case .current: self = .current
    }
  }
}

extension LatencySetting.Output {
  /// Selects the output from the command's options. Throws a usage error if the options do not fit
  /// each other or the server.
  init(_ command: ParsedCommand, server: LatencySetting.Server) throws(CommandFailure) {
    let isAppended = command[Options.appended]
    if command[Options.throughSink] {
      guard server != .current else {
        throw .usage(
          "--through-sink needs a private server; use --server pulseaudio or --server pipewire, "
            + "and omit --source")
      }
      guard !isAppended, !command.isGiven(Options.soundServer) else {
        throw .usage("--through-sink cannot be combined with --appended or --output; omit them")
      }
      self = .sink
      return
    }
    switch command[Options.soundServer] {
    case .pulse: self = isAppended ? .appended : .rewritten
    case .auto:
      let isNative = server == .pipewire && !isAppended
      self = isNative ? .native : (isAppended ? .appended : .rewritten)
    case .pipewire:
      guard server != .pulseaudio, !isAppended else {
        throw .usage(
          isAppended
            ? "--output pipewire has no queue to append to; omit --appended"
            : "--output pipewire needs --server pipewire or --server current")
      }
      self = .native
    }
  }
}
