// SPDX-License-Identifier: Apache-2.0

import CommandOptions
import CommandSupport
import HeadTracking
import Laboratory
import Playback
import Rendering
import SoundSources

/// One combination that `bench latency` measures.
struct LatencySetting: Codable, Hashable {
  enum Server: String, Codable, CaseIterable {
    case pulseaudio
    case pipewire
    /// The user's own.
    case current
  }

  enum Output: String, Codable, CaseIterable {
    case appended
    case rewritten
  }

  var server: Server
  var output: Output
  /// What is asked for; nil: the player's own choice.
  var queueMilliseconds: Double?

  /// The player's options: here, and nowhere else, the bench says how the output is to work.
  func playerOptions(server address: String?, sink: String?, head: HeadPoseSource) -> PlayerOptions
  {
    var options = PlayerOptions()
    options.serverAddress = address
    options.sinkName = sink
    options.head = .source(head)
    if let queueMilliseconds { options.latencyMilliseconds = queueMilliseconds }
    options.rewriting = output == .rewritten ? .automatic : .never
    options.interrupt = Signals.interrupt
    return options
  }

  /// Seconds before the first step: until the queue is full and the prediction has seen a still
  /// head. On PipeWire a recording's way to its reader takes some 15 s to come to rest.
  var warmUpSeconds: Double { server == .pipewire ? 20 : 1 }

  var title: String {
    let depth = queueMilliseconds.map { "\(decimal($0, 0)) ms" } ?? "the player's own depth"
    return "\(server.rawValue), \(output.rawValue), \(depth)"
  }
}

/// The server that a setting is measured on.
final class LatencyServer {
  let address: String?
  /// The sink to play to and to record.
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

  /// The Debian package that a server needs and that is not there.
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
