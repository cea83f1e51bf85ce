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
