// SPDX-License-Identifier: Apache-2.0

import SoundServer
import Synchronization
import TestSupport
import Testing

@testable import Laboratory
@testable import PulseAudio

extension ServerTests {
  /// Tests the depth of the queue on a real server.
  @Suite(.serialized) struct QueueTests {
    private func adaptive(_ address: String) -> AudioOutputConfiguration {
      var asked = configuration(address)
      asked.latencyMilliseconds = nil
      asked.queueRules.quietNanoseconds = 1_500_000_000
      return asked
    }

    @Test func queueStartsDeepOnlyIfItIsRewritten() throws {
      try PrivatePulseServer.withServer { server in
        for canRewrite in [true, false] {
          let asked = adaptive(server.address)
          let deep = VersionedSource()
          let short = CountingSource()
          let output = try PulseOutput(asked, render: canRewrite ? deep.callback : short.callback)
          defer { output.stop() }
          try output.start()
          sleepMilliseconds(700)
          let status = output.status
          print(
            "adaptive, rewritten: \(canRewrite): queue \(status.queueMilliseconds),",
            "in it \(status.queuedMilliseconds ?? -1),",
            "latency \(status.measuredLatencyMilliseconds ?? -1), \(status.rewriting)")
          #expect(status.rewriting == (canRewrite ? .active : .unsupportedBySource))
          #expect(status.requestedLatencyMilliseconds == (canRewrite ? 150 : 50))
          #expect(abs(status.queueMilliseconds - (canRewrite ? 145 : 40)) < 1)
          let queued = try #require(status.queuedMilliseconds)
          #expect(queued > (canRewrite ? 125 : 25))
          #expect(queued < (canRewrite ? 151 : 51))
        }
      }
    }

    @Test func queueStartsDeepIfLatencyIsFree() throws {
      try PrivatePulseServer.withServer { server in
        var asked = adaptive(server.address)
        asked.latencyIsFree = true
        let output = try PulseOutput(asked, render: CountingSource().callback)
        defer { output.stop() }
        try output.start()
        sleepMilliseconds(700)
        let status = output.status
        #expect(status.rewriting == .unsupportedBySource)
        #expect(status.requestedLatencyMilliseconds == 150)
        #expect(try #require(status.queuedMilliseconds) > 110)
      }
    }

    /// The server asks when nearly half of the queue is missing, which rarely happens.
    @Test func queueIsRefilledBeforeTheServerAsks() throws {
      try PrivatePulseServer.withServer { server in
        let source = VersionedSource()
        let output = try PulseOutput(adaptive(server.address), render: source.callback)
        defer { output.stop() }
        try output.start()
        // A null sink takes two seconds to start.
        sleepMilliseconds(3500)
        var depths: [Double] = []
        for _ in 0..<40 {
          sleepMilliseconds(27)
          depths.append(try #require(output.status.queuedMilliseconds))
        }
        let status = output.status
        depths.sort()
        print(
          "topped up: in it \(depths[0]) to \(depths[39]), the server asks for",
          "\(status.minimumRequestMilliseconds), the sink has \(status.sinkLatencyMilliseconds)")
        #expect(abs(status.minimumRequestMilliseconds - status.queueMilliseconds / 2) < 5)
        #expect(status.sinkLatencyMilliseconds < 12)
        // The median is checked, so that a busy machine may be late occasionally.
        #expect(depths[20] > 0.8 * status.queueMilliseconds)
        #expect(depths[39] < status.queueMilliseconds + 25)
      }
    }

    @Test func requestedDepthIsReached() throws {
      try PrivatePulseServer.withServer { server in
        for asked in [40.0, 100, 200, 300] {
          let source = VersionedSource()
          let output = try PulseOutput(
            configuration(server.address, latency: asked), render: source.callback)
          defer { output.stop() }
          try output.start()
          sleepMilliseconds(600)
          var depths: [Double] = []
          for _ in 0..<20 {
            sleepMilliseconds(15)
            depths.append(try #require(output.status.measuredLatencyMilliseconds))
          }
          let median = depths.sorted()[10]
          print("asked for \(asked) ms: \(median) ms from writing to hearing")
          #expect(median > asked * 0.85 - 5)
          #expect(median < asked + 6)
        }
      }
    }

    /// While the queue grows after an underrun and shrinks after a quiet time, the sound has no gap
    /// and loses no frame.
    @Test func queueGrowsAndShrinksWithoutGaps() throws {
      try PrivatePulseServer.withServer { server in
        let (audio, capture) = try capture(server.address)
        let source = CountingSource()
        let output = try PulseOutput(adaptive(server.address), render: source.callback)
        let log = EventLog(output)
        defer { output.stop() }
        try output.start()
        sleepMilliseconds(600)
        source.delayMicroseconds.store(120_000, ordering: .relaxed)
        sleepMilliseconds(150)
        source.delayMicroseconds.store(0, ordering: .relaxed)
        let grown = log.await(limit: 2000) {
          $0 == .queueChanged(milliseconds: 100, rewriting: .unsupportedBySource)
        }
        #expect(grown != nil)
        sleepMilliseconds(500)
        let deep = try #require(output.status.measuredLatencyMilliseconds)
        let afterGrowth = audio.frameCount
        #expect(deep > 70)
        let shrunk = log.await(limit: 12_000) {
          $0 == .queueChanged(milliseconds: 40, rewriting: .unsupportedBySource)
        }
        #expect(shrunk != nil)
        sleepMilliseconds(500)
        let shallow = try #require(output.status.measuredLatencyMilliseconds)
        capture.stop()
        let recording = Recording(audio)
        let quiet = recording.numbers.dropFirst(afterGrowth).drop { $0 == nil }
        print("queue grown to \(deep) ms, shrunk to \(shallow) ms")
        #expect(shallow < 50)
        #expect(recording.jumps.isEmpty, "\(recording.jumps)")
        #expect(!quiet.contains { $0 == nil })
        #expect(source.decreases.load(ordering: .relaxed) == 0)
      }
    }

    /// The queue grows during playback without an underrun.
    @Test func nearUnderrunDeepensTheQueue() throws {
      try PrivatePulseServer.withServer { server in
        var asked = adaptive(server.address)
        asked.queueRules.appended = 100
        asked.queueRules.quietNanoseconds = 60_000_000_000
        let source = CountingSource()
        let output = try PulseOutput(asked, render: source.callback)
        let log = EventLog(output)
        defer { output.stop() }
        try output.start()
        sleepMilliseconds(3000)
        let before = output.status.underruns
        source.delayMicroseconds.store(88_000, ordering: .relaxed)
        sleepMilliseconds(50)
        source.delayMicroseconds.store(0, ordering: .relaxed)
        let grown = log.await(limit: 1000) {
          $0 == .queueChanged(milliseconds: 200, rewriting: .unsupportedBySource)
        }
        print("near miss: \(output.status.underruns - before) underruns")
        #expect(grown != nil)
      }
    }
  }
}
