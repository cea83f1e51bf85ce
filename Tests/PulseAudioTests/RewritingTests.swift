// SPDX-License-Identifier: Apache-2.0

import PulseAudio
import Synchronization
import TestSupport
import Testing

extension ServerTests {
  @Suite(.serialized) struct RewritingTests {
    @Test func aTurnIsHeardAtOnceThoughTheQueueIsDeep() throws {
      try PrivatePulseServer.withServer { server in
        let run = try RewriteRun(configuration(server.address, latency: 200))
        run.report("PulseAudio without rewinds")
        #expect(run.median < 12)
        #expect(run.p95 < 20)
        #expect(run.queueDepths[run.queueDepths.count / 2] > 150)
        #expect(run.jumps.isEmpty, "\(run.jumps)")
        #expect(run.gaps == 0)
        #expect(run.strayFrames == 0)
        #expect(run.status.underruns == 0)
        #expect(run.wrongCalls == 0)
        #expect(run.missed <= run.delays.count / 20)
      }
    }

    @Test func aTurnIsHeardOnAResamplingSink() throws {
      try PrivatePulseServer.withServer(sinkRate: 44_100) { server in
        let run = try RewriteRun(configuration(server.address, latency: 200))
        run.report("PulseAudio, resampled")
      }
    }

    @Test(.enabled(if: PrivatePipeWireServer.missingPackage == nil))
    func aTurnIsHeardAtOnceOnPipeWire() throws {
      try PrivatePipeWireServer.withServer { server in
        var settings = RewriteRun.Settings()
        settings.monitor = "ears"
        var asked = configuration(server.address, latency: 200)
        asked.sinkName = "ears"
        let run = try RewriteRun(asked, settings)
        run.report("PipeWire")
        #expect(run.p95 < 30)
        #expect(run.queueDepths[run.queueDepths.count / 2] > 150)
        #expect(run.jumps.allSatisfy { ($0.to - $0.from - 1) % 256 == 0 }, "\(run.jumps)")
        #expect(run.strayFrames == 0)
        #expect(run.status.underruns == 0)
        #expect(run.missed <= run.delays.count / 20)
      }
    }
  }
}
