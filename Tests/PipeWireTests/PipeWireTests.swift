// SPDX-License-Identifier: Apache-2.0

import Laboratory
import PipeWire
import PulseAudio
import SoundServer
import TestSupport
import Testing

/// All tests that need a server. They run one after another, because they measure times.
@Suite(
  .serialized,
  .enabled(
    if: PrivatePipeWireServer.missingPackage == nil,
    "needs the Debian package '\(PrivatePipeWireServer.missingPackage ?? "")'"))
enum PipeWireServerTests {}

/// Returns a configuration for a private server. The quantum is large by default, so that a busy
/// machine causes no gaps.
func configuration(
  _ server: PrivatePipeWireServer, latency: Double? = 21.4, rate: Int = 48_000
) -> AudioOutputConfiguration {
  var configuration = AudioOutputConfiguration()
  configuration.serverAddress = server.socketPath
  configuration.latencyMilliseconds = latency
  configuration.sampleRate = rate
  return configuration
}

/// A playing output on a private server.
struct Playing {
  let source: CountingSource
  let output: PipeWireOutput
  let log: EventLog

  init(_ configuration: AudioOutputConfiguration) throws {
    source = CountingSource(sampleRate: configuration.sampleRate)
    output = try PipeWireOutput(configuration, render: source.callback)
    log = EventLog(output)
    try output.start()
  }

  var framesWritten: Int64 { output.status.framesWritten }

  /// Waits until frames are rendered. Returns the time in milliseconds; nil after 2 s.
  func millisecondsUntilRendering() -> Double? {
    let written = framesWritten
    return millisecondsUntil(limit: 2000) { framesWritten > written }
  }
}

/// Records a sink's monitor over the server's PulseAudio protocol.
func capture(
  _ server: PrivatePipeWireServer, sink: String = "ears"
) throws -> (audio: CapturedAudio, capture: MonitorCapture) {
  let audio = CapturedAudio()
  let capture = try MonitorCapture(
    serverAddress: server.address, sinkName: sink, fragmentMilliseconds: 100,
    receiver: audio.append)
  return (audio, capture)
}

/// Waits until both channels of the sink `ears` have sound. Each attempt records with a new stream,
/// because a suspension of the sink may stop one channel of any stream that existed.
func expectBothChannels(_ server: PrivatePipeWireServer) throws {
  for _ in 0..<6 {
    let (audio, capture) = try capture(server)
    sleepMilliseconds(500)
    capture.stop()
    let samples = audio.samples
    let areHeard = (0..<2).allSatisfy { channel in
      stride(from: channel, to: samples.count, by: 2).contains { abs(samples[$0]) > 0.01 }
    }
    if areHeard { return }
  }
  Issue.record("a channel of the sink stays silent")
}

/// Has the session manager's library send an error to the program that owns a node, which puts its
/// stream into the error state.
func sendError(to node: String, on server: PrivatePipeWireServer) throws {
  let folder = TemporaryFolder()
  let script = folder.file("error.lua")
  try writeFile(
    Array(
      """
      local objects = ObjectManager {
        Interest { type = "node", Constraint { "node.name", "=", "\(node)" } },
        Interest { type = "client" },
      }
      objects:connect("installed", function (found)
        local node = found:lookup { type = "node" }
        local owner = node.properties["client.id"]
        local client = found:lookup {
          type = "client", Constraint { "bound-id", "=", owner, type = "gobject" },
        }
        client:send_error(node["bound-id"], -32, "an error for a test")
        Core.timeout_add(100, function () Core.quit() end)
      end)
      objects:activate()
      """.utf8), to: script)
  let answer = try ProgramRun.of(
    "wpexec", [script], environment: server.environment.mapValues { $0 })
  #expect(answer.exitCode == 0, "\(answer.errors)")
}
