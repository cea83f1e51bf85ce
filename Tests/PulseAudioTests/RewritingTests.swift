// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing

@testable import PulseAudio

extension ServerTests {
  @Suite(.serialized) struct RewritingTests {
    @Test func aTurnIsHeardAtOnceThoughTheQueueIsDeep() throws {
      try PrivatePulseServer.withServer { server in
        let run = try RewriteRun(configuration(server.address, latency: 200))
        run.report("PulseAudio without rewinds")
        #expect(run.median < 12)
        #expect(run.p95 < 20)
        #expect(run.queueDepths[run.queueDepths.count / 2] > 150)
        #expect(run.jumps.isEmpty, "\(run.jumps.prefix(4))")
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
        run.report("PulseAudio, another rate")
        #expect(run.p95 < 25)
        #expect(run.status.underruns == 0)
      }
    }

    @Test(.enabled(if: PrivatePipeWireServer.missingPackage == nil))
    func aTurnIsHeardAtOnceOnPipeWire() throws {
      try PrivatePipeWireServer.withServer { server in
        var settings = RewriteRun.Settings()
        settings.monitor = "ears"
        settings.monitorTellsNoTime = true
        var asked = configuration(server.address, latency: 200)
        asked.sinkName = "ears"
        let run = try RewriteRun(asked, settings)
        run.report("PipeWire")
        #expect(run.p95 < 30)
        #expect(run.queueDepths[run.queueDepths.count / 2] > 150)
        #expect(run.jumps.allSatisfy { ($0.to - $0.from - 1) % 256 == 0 }, "\(run.jumps.prefix(4))")
        #expect(run.strayFrames == 0)
        #expect(run.status.underruns == 0)
        #expect(run.missed <= run.delays.count / 20)
      }
    }

    /// A null sink that can be rewound first plays two seconds of silence.
    @Test func aTurnIsHeardAtOnceOnASinkThatRewinds() throws {
      try PrivatePulseServer.withServer { server in
        try server.pactl([
          "load-module", "module-null-sink", "sink_name=rewinding", "rate=48000", "channels=2",
          "format=float32le",
        ])
        var settings = RewriteRun.Settings()
        settings.monitor = "rewinding"
        settings.settle = 4500
        var asked = configuration(server.address, latency: 200)
        asked.sinkName = "rewinding"
        let run = try RewriteRun(asked, settings)
        run.report("PulseAudio with rewinds")
        #expect(run.median < 12)
        #expect(run.p95 < 25)
        #expect(run.queueDepths[run.queueDepths.count / 2] > 150)
        #expect(run.jumps.isEmpty, "\(run.jumps.prefix(4))")
        #expect(run.gaps == 0)
        #expect(run.strayFrames == 0)
        #expect(run.status.underruns == 0)
      }
    }

    /// Virtual sinks play through another one, some of them from buffers of their own.
    @Test(arguments: [
      ["remap", "module-remap-sink", "master=ears"],
      ["both", "module-combine-sink", "slaves=ears,other", "rate=48000", "format=float32le"],
    ])
    func virtualSinksAreFollowed(module: [String]) throws {
      try PrivatePulseServer.withServer { server in
        _ = try server.loadSink("other")
        try server.pactl(
          ["load-module", module[1], "sink_name=\(module[0])"] + module.dropFirst(2))
        var settings = RewriteRun.Settings()
        settings.monitor = "ears"
        settings.settle = 2500
        var asked = configuration(server.address, latency: 200)
        asked.sinkName = module[0]
        let run = try RewriteRun(asked, settings)
        run.report(module[1])
        #expect(run.status.rewriting == .active)
        #expect(run.p95 < 80)
        // The combining sink resamples all the time, to keep its outputs together.
        #expect(run.jumps.isEmpty || module[0] == "both", "\(run.jumps.prefix(4))")
        #expect(run.gaps == 0)
        #expect(run.status.underruns == 0)
      }
    }

    /// A tunnel reads 100 ms ahead and more: too far for the limit set here, so the queue is short,
    /// unless rewriting is insisted on.
    @Test(arguments: [RewritingChoice.automatic, .always])
    func aSinkThatReadsTooFarAheadIsRecognised(choice: RewritingChoice) throws {
      try PrivatePulseServer.withServer { server in
        try PrivatePulseServer.withServer { far in
          try server.pactl([
            "load-module", "module-tunnel-sink", "sink_name=far", "server=\(far.address)",
            "sink=ears", "rate=48000", "format=float32le",
          ])
          var asked = configuration(server.address)
          asked.latencyMilliseconds = nil
          asked.sinkName = "far"
          asked.rewriting = choice
          asked.largestMarginMilliseconds = 60
          let source = VersionedSource()
          let output = try AudioOutput(asked, render: source.callback)
          let log = EventLog(output)
          defer { output.stop() }
          try output.start()
          for _ in 0..<100 {
            source.turn()
            output.refresh()
            sleepMilliseconds(10)
          }
          let status = output.status
          print(
            "tunnel, \(choice): \(status.rewriting), margin \(status.rewriteMarginMilliseconds),",
            "queue \(status.queueMilliseconds), sink \(status.sinkLatencyMilliseconds),",
            "latency \(status.measuredLatencyMilliseconds ?? -1)")
          if choice == .automatic {
            guard case .sinkReadsTooFarAhead = status.rewriting else {
              Issue.record("\(status.rewriting)")
              return
            }
            #expect(status.requestedLatencyMilliseconds == 50)
            #expect(
              log.first {
                if case .queueChanged(50, .sinkReadsTooFarAhead) = $0 { true } else { false }
              } != nil)
          } else {
            #expect(status.rewriting == .active)
            #expect(status.requestedLatencyMilliseconds == 150)
          }
        }
      }
    }

    /// With the margin as it comes, a tunnel is rewritten too, as far ahead as it reads.
    @Test func aFarSinkIsFollowedWhereTheMarginMayGrow() throws {
      try PrivatePulseServer.withServer { server in
        try PrivatePulseServer.withServer { far in
          try server.pactl([
            "load-module", "module-tunnel-sink", "sink_name=far", "server=\(far.address)",
            "sink=ears", "rate=48000", "format=float32le",
          ])
          var asked = configuration(server.address, latency: 200)
          asked.sinkName = "far"
          var settings = RewriteRun.Settings()
          settings.monitor = "far"
          settings.settle = 2500
          let run = try RewriteRun(asked, settings)
          run.report("tunnel")
          #expect(run.status.rewriting == .active)
          #expect(run.status.rewriteMarginMilliseconds > 80)
          #expect(run.status.sinkLatencyMilliseconds > 50)
          #expect(run.p95 < 180)
        }
      }
    }

    @Test func switchedOffMeansNoCallAtAll() throws {
      try PrivatePulseServer.withServer { server in
        var asked = configuration(server.address)
        asked.rewriting = .never
        var settings = RewriteRun.Settings()
        settings.seconds = 0.5
        let source = VersionedSource()
        let run = try RewriteRun(asked, settings, source: source)
        #expect(run.status.rewriting == .switchedOff)
        #expect(source.calls.load(ordering: .relaxed) == 0)
        #expect(run.delays.isEmpty)
        #expect(run.jumps.isEmpty)
      }
    }

    /// Half a minute of a moving head.
    @Test func turningAllTheTimeCostsNoUnderrun() throws {
      try PrivatePulseServer.withServer { server in
        var settings = RewriteRun.Settings()
        settings.seconds = 30
        let run = try RewriteRun(configuration(server.address, latency: 200), settings)
        run.report("PulseAudio, 30 s")
        #expect(run.jumps.isEmpty, "\(run.jumps.prefix(4))")
        #expect(run.gaps == 0)
        #expect(run.strayFrames == 0)
        #expect(run.status.underruns == 0)
        #expect(run.status.rewrites > 2500)
        #expect(run.p95 < 25)
      }
    }

    /// A source that takes long: its pieces are still joined, or left out, and the end is fed first.
    @Test func aSlowSourceRewritesLessOftenAndLosesNothing() throws {
      try PrivatePulseServer.withServer { server in
        let source = VersionedSource()
        source.delayMicroseconds.store(20_000, ordering: .relaxed)
        let run = try RewriteRun(configuration(server.address, latency: 200), source: source)
        run.report("20 ms per rewrite")
        #expect(run.jumps.isEmpty, "\(run.jumps.prefix(4))")
        #expect(run.gaps == 0)
        #expect(run.strayFrames == 0)
        #expect(run.status.underruns == 0)
        #expect(run.status.rewrites > 20)
      }
    }

    @Test func lossesAndMovesWhileRewriting() throws {
      try PrivatePulseServer.withServer { server in
        _ = try server.loadSink("other")
        let source = VersionedSource()
        let output = try AudioOutput(configuration(server.address), render: source.callback)
        let log = EventLog(output)
        defer { output.stop() }
        try output.start()
        func turn(_ count: Int) {
          for _ in 0..<count {
            source.turn()
            output.refresh()
            sleepMilliseconds(8)
          }
        }
        turn(60)
        let first = output.status.rewrites
        #expect(first > 30)
        try server.pactl(["set-default-sink", "other"])
        turn(60)
        #expect(log.await(limit: 1000) { $0 == .moved(sink: "other") } != nil)
        let second = output.status.rewrites
        #expect(second > first + 30)
        output.flush()
        turn(60)
        output.pause()
        turn(20)
        let paused = output.status.rewrites
        turn(20)
        #expect(output.status.rewrites == paused)
        output.resume()
        turn(60)
        #expect(output.status.rewrites > paused + 20)
        server.kill()
        turn(20)
        let returned = try server.restart()
        #expect(
          log.await(limit: 2000, after: returned) {
            if case .connected = $0 { true } else { false }
          } != nil)
        let lost = output.status.rewrites
        turn(100)
        #expect(output.status.rewrites > lost + 30)
        #expect(output.status.state == .playing)
        #expect(source.wrongCalls.load(ordering: .relaxed) == 0)
      }
    }

    @Test func refreshMayComeWhileStopping() throws {
      try PrivatePulseServer.withServer { server in
        for _ in 0..<5 {
          let source = VersionedSource()
          let output = try AudioOutput(configuration(server.address), render: source.callback)
          let refresher = Refresher(output, source)
          try output.start()
          sleepMilliseconds(150)
          output.stop()
          let calls = source.calls.load(ordering: .relaxed)
          sleepMilliseconds(30)
          refresher.stop()
          #expect(calls > 0)
          #expect(source.calls.load(ordering: .relaxed) == calls)
        }
      }
    }
  }
}
