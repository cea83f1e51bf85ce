// SPDX-License-Identifier: Apache-2.0

import PulseAudio
import SoundServer
import TestSupport
import Testing

/// All tests that need a server. They run one after another, because they measure times.
@Suite(.serialized) enum ServerTests {}

/// Returns a configuration with a deep queue by default, so that a busy machine causes no gaps.
func configuration(
  _ address: String, latency: Double = 200, rate: Int = 48_000
) -> AudioOutputConfiguration {
  var configuration = AudioOutputConfiguration()
  configuration.serverAddress = address
  configuration.latencyMilliseconds = latency
  configuration.sampleRate = rate
  return configuration
}

/// A playing output on a private server.
struct Playing {
  let source: CountingSource
  let output: any AudioOutput
  let log: EventLog

  init(_ configuration: AudioOutputConfiguration) throws {
    source = CountingSource(sampleRate: configuration.sampleRate)
    output = try PulseOutput(configuration, render: source.callback)
    log = EventLog(output)
    try output.start()
  }
}

func capture(
  _ address: String, sink: String? = nil, fragment: Double = 10
) throws -> (audio: CapturedAudio, capture: MonitorCapture) {
  let audio = CapturedAudio()
  let capture = try MonitorCapture(
    serverAddress: address, sinkName: sink, fragmentMilliseconds: fragment, receiver: audio.append)
  return (audio, capture)
}
