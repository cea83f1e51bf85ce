// SPDX-License-Identifier: Apache-2.0

import Glibc
import SoundServer
import Synchronization
import TestSupport
import Testing

@testable import Laboratory
@testable import PulseAudio

extension ServerTests {
  /// Tests that a head turn is audible quickly despite a deep queue, and that it breaks nothing.
  @Suite(.serialized) struct RewritingTests {
    @Test func headTurnIsAudibleQuicklyDespiteADeepQueue() throws {
      try PrivatePulseServer.withServer { server in
        let run = try RewriteRun.upToThree {
          let run = try RewriteRun(configuration(server.address, latency: 200))
          run.report("PulseAudio without rewinds")
          run.checkIntegrity()
          return run
        } until: {
          $0.median < 12 && $0.p95 < 20 && $0.isUnbroken
        }
        #expect(run.queueDepths[run.queueDepths.count / 2] > 180)
      }
    }

    /// A null sink that supports rewinds first plays two seconds of silence.
    @Test func headTurnIsAudibleQuicklyOnARewindingSink() throws {
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
        let run = try RewriteRun.upToThree {
          let run = try RewriteRun(asked, settings)
          run.report("PulseAudio with rewinds")
          run.checkIntegrity()
          return run
        } until: {
          $0.median < 12 && $0.p95 < 20 && $0.isUnbroken
        }
        #expect(run.queueDepths[run.queueDepths.count / 2] > 180)
      }
    }

    @Test(
      .enabled(
        if: PrivatePipeWireServer.missingPackage == nil,
        "needs the Debian package '\(PrivatePipeWireServer.missingPackage ?? "")'"))
    func headTurnIsAudibleQuicklyOnPipeWire() throws {
      try PrivatePipeWireServer.withServer { server in
        var settings = RewriteRun.Settings()
        settings.monitor = "ears"
        settings.usesArrivalTimes = true
        var asked = configuration(server.address, latency: 200)
        asked.sinkName = "ears"
        let run = try RewriteRun.upToThree {
          let run = try RewriteRun(asked, settings)
          run.report("PipeWire")
          run.checkIntegrity(quantum: 256)
          return run
        } until: {
          $0.p95 < 30 && $0.status.underruns == 0 && $0.missed < 15
        }
        #expect(run.queueDepths[run.queueDepths.count / 2] > 170)
      }
    }

    /// Turns the head continuously. `STILLSTAGE_TURNING_SECONDS=600` extends the test to ten
    /// minutes.
    @Test func continuousTurningCausesNoUnderrun() throws {
      try PrivatePulseServer.withServer { server in
        var settings = RewriteRun.Settings()
        settings.seconds =
          getenv("STILLSTAGE_TURNING_SECONDS").flatMap { Double(String(cString: $0)) } ?? 12
        let run = try RewriteRun.upToThree {
          let run = try RewriteRun(configuration(server.address, latency: 200), settings)
          run.report("PulseAudio, \(settings.seconds) s")
          run.checkIntegrity()
          return run
        } until: {
          $0.p95 < 25 && $0.isUnbroken
        }
        #expect(Double(run.status.rewrites) > 80 * settings.seconds)
      }
    }

    /// If the source is slow, its pieces are still joined, or omitted, and the end of the queue is
    /// filled first.
    @Test func slowSourceIsRewrittenWithoutGaps() throws {
      try PrivatePulseServer.withServer { server in
        let source = VersionedSource()
        source.delayMicroseconds.store(20_000, ordering: .relaxed)
        let run = try RewriteRun(configuration(server.address, latency: 200), source: source)
        run.report("20 ms per rewrite")
        run.checkIntegrity()
        #expect(run.gaps == 0)
        #expect(run.status.rewrites > 20)
      }
    }

    /// Two threads spin, one for each core of a small machine; the deep queue outlasts them.
    /// `STILLSTAGE_OVERLOAD_SECONDS=120` extends the test to the two minutes that are promised.
    @Test func busyMachineCausesNoLongGap() throws {
      let seconds = getenv("STILLSTAGE_OVERLOAD_SECONDS").flatMap { Double(String(cString: $0)) }
      try PrivatePulseServer.withServer { server in
        let spinners = (0..<2).map { _ in TestThread { while !$0.isStopped {} } }
        defer { for spinner in spinners { spinner.stop() } }
        var asked = configuration(server.address)
        asked.latencyMilliseconds = nil
        var settings = RewriteRun.Settings()
        settings.seconds = seconds ?? 5
        let run = try RewriteRun.upToThree {
          let run = try RewriteRun(asked, settings)
          run.report(
            "PulseAudio, busy for \(settings.seconds) s, queue \(run.status.queueMilliseconds)")
          run.checkIntegrity()
          return run
        } until: {
          $0.silentFrames < 960
        }
        #expect(run.status.rewrites > Int(settings.seconds * 20))
      }
    }

    @Test func disabledRewritingNeverCallsTheRewriteFunction() throws {
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
        run.checkIntegrity()
      }
    }

    @Test func rewritingResumesAfterMovesPausesAndLosses() throws {
      try PrivatePulseServer.withServer { server in
        _ = try server.loadSink("other")
        let source = VersionedSource()
        let output = try PulseOutput(configuration(server.address), render: source.callback)
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
        let third = output.status.rewrites
        output.flush { source.dropQueue() }
        turn(60)
        #expect(output.status.rewrites > third + 20)
        output.pause()
        turn(20)
        let paused = output.status.rewrites
        turn(20)
        #expect(output.status.rewrites == paused)
        output.resume()
        turn(60)
        #expect(output.status.rewrites > paused + 20)
        server.kill()
        let died = log.await(limit: 1000) {
          if case .serverLost = $0 { true } else { false }
        }
        #expect(died != nil)
        source.dropQueue()
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

    @Test func refreshDuringStopIsSafe() throws {
      try PrivatePulseServer.withServer { server in
        for _ in 0..<5 {
          let source = VersionedSource()
          let output = try PulseOutput(configuration(server.address), render: source.callback)
          // Turn the head as fast as possible.
          let refresher = TestThread { thread in
            while !thread.isStopped {
              source.turn()
              output.refresh()
              usleep(100)
            }
          }
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
