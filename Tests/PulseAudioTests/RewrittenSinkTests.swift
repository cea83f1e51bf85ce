// SPDX-License-Identifier: Apache-2.0

import SoundServer
import TestSupport
import Testing

@testable import Laboratory
@testable import PulseAudio

extension ServerTests {
  /// Tests sinks that play through another sink, some of them with buffers of their own.
  @Suite(.serialized) struct RewrittenSinkTests {
    @Test func rewritingWorksThroughARemapSink() throws {
      try PrivatePulseServer.withServer { server in
        try server.pactl(["load-module", "module-remap-sink", "sink_name=remap", "master=ears"])
        _ = try RewriteRun.upToThree {
          let run = try self.run(server, sink: "remap", monitor: "ears")
          run.report("module-remap-sink")
          run.checkIntegrity()
          return run
        } until: {
          $0.p95 < 25 && $0.isUnbroken
        }
      }
    }

    /// A combining sink resamples continuously to synchronise its outputs, so frames cannot be
    /// identified.
    @Test func rewritingWorksThroughACombineSink() throws {
      try PrivatePulseServer.withServer { server in
        _ = try server.loadSink("other")
        try server.pactl([
          "load-module", "module-combine-sink", "sink_name=both", "slaves=ears,other",
          "rate=48000", "format=float32le",
        ])
        let run = try RewriteRun.upToThree {
          let run = try self.run(server, sink: "both", monitor: "ears")
          run.report("module-combine-sink")
          return run
        } until: {
          $0.p95 < 60 && $0.gaps == 0 && $0.status.underruns == 0
        }
        #expect(run.status.rewriting == .active)
      }
    }

    private func run(
      _ server: PrivatePulseServer, sink: String, monitor: String
    ) throws -> RewriteRun {
      var settings = RewriteRun.Settings()
      settings.monitor = monitor
      settings.settle = 2500
      var asked = configuration(server.address, latency: 200)
      asked.sinkName = sink
      return try RewriteRun(asked, settings)
    }

    /// A tunnel reads 100 ms ahead or more. The margin grows to that and no further.
    @Test func rewriteMarginGrowsToTheReadAheadOfATunnel() throws {
      try withTunnel { server in
        let run = try RewriteRun.upToThree {
          let run = try self.run(server, sink: "far", monitor: "far")
          run.report("module-tunnel-sink")
          return run
        } until: {
          $0.p95 < 160 && $0.missed < 30
        }
        #expect(run.status.rewriting == .active)
        #expect(run.status.rewriteMarginMilliseconds > 80)
        #expect(run.status.sinkLatencyMilliseconds > 50)
      }
    }

    /// With a limit below the tunnel's read-ahead, the queue is short instead, unless rewriting is
    /// forced.
    @Test(arguments: [RewritingChoice.automatic, .always])
    func excessiveReadAheadDisablesRewritingUnlessForced(choice: RewritingChoice) throws {
      try withTunnel { server in
        var asked = configuration(server.address)
        asked.latencyMilliseconds = nil
        asked.sinkName = "far"
        asked.rewriting = choice
        asked.largestMarginMilliseconds = 60
        let source = VersionedSource()
        let output = try PulseOutput(asked, render: source.callback)
        let log = EventLog(output)
        defer { output.stop() }
        try output.start()
        for _ in 0..<600 {
          source.turn()
          output.refresh()
          sleepMilliseconds(10)
          guard output.status.rewriting == .active else { break }
        }
        let status = output.status
        print(
          "tunnel, \(choice): \(status.rewriting), margin \(status.rewriteMarginMilliseconds),",
          "queue \(status.queueMilliseconds), sink \(status.sinkLatencyMilliseconds),",
          "latency \(status.measuredLatencyMilliseconds ?? -1)")
        if choice == .always {
          #expect(status.rewriting == .active)
          #expect(status.requestedLatencyMilliseconds >= 150)
          return
        }
        guard case .sinkReadsTooFarAhead(let ahead) = status.rewriting else {
          Issue.record("\(status.rewriting)")
          return
        }
        #expect(ahead >= 60)
        #expect(status.requestedLatencyMilliseconds == 50)
        let event = log.await(limit: 500) {
          if case .queueChanged(50, .sinkReadsTooFarAhead) = $0 { true } else { false }
        }
        #expect(event != nil)
      }
    }

    /// Runs `body` with a server that has a sink "far", which plays on another server.
    private func withTunnel(_ body: (PrivatePulseServer) throws -> Void) throws {
      try PrivatePulseServer.withServer { far in
        try PrivatePulseServer.withServer { server in
          try server.pactl([
            "load-module", "module-tunnel-sink", "sink_name=far", "server=\(far.address)",
            "sink=ears", "rate=48000", "format=float32le",
          ])
          try body(server)
        }
      }
    }
  }
}
