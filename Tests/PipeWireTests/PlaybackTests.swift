// SPDX-License-Identifier: Apache-2.0

import Laboratory
import PipeWire
import PulseAudio
import SoundServer
import Synchronization
import TestSupport
import Testing

extension PipeWireServerTests {
  @Suite(.serialized) struct PlaybackTests {
    @Test func soundArrivesBitExactAndOnTime() throws {
      try PrivatePipeWireServer.withServer { server in
        let (audio, capture) = try capture(server)
        let playing = try Playing(configuration(server))
        defer { playing.output.stop() }
        sleepMilliseconds(2500)
        capture.stop()
        let status = playing.output.status
        let recording = Recording(audio)
        let residual = residualDecibels(
          recording.longestRun, frequency: CountingSource.frequency, sampleRate: 48_000)
        print(
          "run \(recording.longestRun.count), residual \(residual) dB, jumps \(recording.jumps)")
        #expect(residual < -130)
        #expect(status.state == .playing)
        #expect(status.sinkName == "ears")
        #expect(status.sinkSampleRate == 48_000)
        #expect(status.underruns == 0)
        #expect(!status.isLatencyApproximate)
        #expect(playing.source.decreases.load(ordering: .relaxed) == 0)
        #expect(playing.log.first { $0 == .connected(sink: "ears") } != nil)
        #expect(recording.longestRun.count > 48_000)
      }
    }
  }
}
