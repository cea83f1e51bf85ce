// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Laboratory

extension EndToEndTests {
  @Suite(.serialized) struct ServerTests {
    /// After the server is killed and restarted, the sound continues at its position, fades in from
    /// silence and has the head's current pose.
    @Test func playbackResumesAtItsPositionAfterAServerRestart() throws {
      let server = try PrivatePulseServer()
      defer { server.stop() }
      var recorder = try SinkRecorder(server.address)
      let performance = try Performance(.noise, on: server.address, tracker: [])
      try performance.begin()
      _ = try performance.move("pose 30 0 0")
      sleepSeconds(0.9)
      var hasSeenRamp = false
      for round in 1...4 where !hasSeenRamp {
        let died = monotonicNow()
        server.kill()
        try performance.event("server-lost", count: round)
        let before = HeardStage(recorder.finish(), .noise, startsWithin: 0..<Scene.noise.frames)
        let last = try #require(before.moments.last { $0.sourceFrame != nil })
        let lost = try #require(last.sourceFrame) + frames(last.time, died)
        sleepSeconds(0.4)
        let returned = try server.restart()
        recorder = try SinkRecorder(server.address, patience: 2)
        try performance.event("connected", count: round + 1)
        sleepSeconds(0.7)
        let recording = recorder.current
        let after = HeardStage(recording, .noise, startsWithin: lost - 24_000..<lost + 24_000)
        let first = try #require(after.moments.first { $0.sourceFrame != nil && $0.gain > 0.02 })
        let middle = HeardStage.middle(ofRamp: after.moments).map { $0 - 1200 }
        // If the recording misses the ramp, use the first moment of the sound.
        let position = middle ?? Double(first.sourceFrame ?? 0)
        let repeated = (Double(lost) - position) / 48
        print(
          "server killed, round \(round): sound", milliseconds(returned, first.time),
          "ms after its return, \(repeated) ms of the source repeated",
          middle == nil ? "(begun before the recording)" : "")
        #expect(milliseconds(returned, first.time) < 500)
        // The repetition is limited by the length of the queue.
        #expect(repeated > -50 && repeated < 50)
        #expect(after.jumps.isEmpty)
        let settled = after.between(first.time + 100_000_000, .max)
        #expect(settled.allSatisfy { abs($0.yaw - 30) < 0.5 && abs($0.gain - 1) < 0.01 })
        hasSeenRamp = try checkRamp(recording, after)
        if !hasSeenRamp { recordRetry("the recorder came after the sound") }
      }
      #expect(hasSeenRamp, "the recorder always came after the sound")
      #expect(performance.end().code == 143)
      let lost = performance.events.filter { $0.event == "server-lost" }
      #expect(lost.allSatisfy { ($0.framesLost ?? 0) > 0 })
    }

    /// Returns false if the recording begins too late to show the ramp.
    private func checkRamp(_ recording: Recording, _ stage: HeardStage) throws -> Bool {
      let audible = try #require(
        (0..<recording.frames).first { recording.ears[0][$0] != 0 || recording.ears[1][$0] != 0 })
      guard audible > 480 else { return false }
      let steady = recording.level(audible + 9600..<audible + 14_400)
      let levels = (0..<28).map { piece in
        recording.level(audible + 96 * piece..<audible + 96 * (piece + 1)) / steady
      }
      let onset = levels.prefix(5).max() ?? 1
      let gains = stage.moments.filter { $0.frame >= audible }.prefix(40).map(\.gain)
      let found = gains.firstIndex { $0 > 0.05 } ?? 0
      let rising = zip(gains.dropFirst(found), gains.dropFirst(found + 1))
        .allSatisfy { $1 > $0 - 0.03 }
      print(
        "ramp: level of the first 10 ms at most \(onset) of the steady one; gain by 10 ms",
        stride(from: 0, to: gains.count, by: 5).map { (gains[$0] * 1000).rounded() / 1000 })
      #expect(onset < 0.15)
      #expect(rising)
      return true
    }

    @Test func playbackResumesAfterAServerFreeze() throws {
      try PrivatePulseServer.withServer { server in
        let recorder = try SinkRecorder(server.address)
        let performance = try Performance(.noise, on: server.address, ["--tracker", "none"])
        try performance.begin()
        sleepSeconds(0.8)
        let frozen = monotonicNow()
        server.freeze()
        try performance.event("server-frozen")
        sleepSeconds(max(0, 2 - milliseconds(frozen, monotonicNow()) * 1e-3))
        server.thaw()
        try performance.event("server-thawed")
        sleepSeconds(1)
        let stage = HeardStage(recorder.finish(), .noise)
        let heard = stage.moments.compactMap(\.sourceFrame)
        print(
          "server frozen for 2 s: \(heard.count * 2) ms heard, jumps in the source",
          stage.jumps.map { Double($0) / 48 }, "ms")
        #expect((stage.moments.last?.gain ?? 0) > 0.9)
        #expect(Double(heard.count * 2) > 1500)
        // No part of the source is skipped except what the server itself dropped.
        #expect(zip(heard, heard.dropFirst()).allSatisfy { $1 > $0 - 4800 && $1 < $0 + 9600 })
        #expect(performance.end().code == 143)
      }
    }

    @Test(arguments: [0.1, 1.5])
    func sigtermEndsPlaybackWhileTheServerIsFrozen(secondsFrozen: Double) throws {
      try PrivatePulseServer.withServer { server in
        let performance = try Performance(.noise, on: server.address, tracker: [])
        try performance.begin()
        sleepSeconds(0.5)
        server.freeze()
        sleepSeconds(secondsFrozen)
        let end = performance.end(SIGTERM)
        print("SIGTERM \(secondsFrozen) s after the server froze: ended in \(end.milliseconds) ms")
        #expect(end.code == 143)
        #expect(end.milliseconds < 1000)
        server.thaw()
      }
    }

    @Test func sigintFadesOutTheSound() throws {
      try PrivatePulseServer.withServer { server in
        let recorder = try SinkRecorder(server.address)
        let performance = try Performance(.noise, on: server.address, ["--tracker", "none"])
        try performance.begin()
        sleepSeconds(0.8)
        let end = performance.end(SIGINT)
        sleepSeconds(0.3)
        #expect(end.code == 130)
        #expect(end.milliseconds < 1000)
        let gains = HeardStage(recorder.finish(), .noise).audible.map(\.gain)
        let fade = gains.suffix(40)
        print(
          "SIGINT: ended in \(end.milliseconds) ms, gain by 10 ms at the end",
          stride(from: fade.startIndex, to: fade.endIndex, by: 5).map {
            (fade[$0] * 1000).rounded() / 1000
          })
        #expect(fade.first ?? 0 > 0.9)
        #expect(zip(fade, fade.dropFirst()).allSatisfy { $1 < $0 + 0.03 })
        #expect(fade.last ?? 1 < 0.02)
        #expect(gains.dropFirst(40).dropLast(40).allSatisfy { abs($0 - 1) < 0.01 })
      }
    }

    /// Plays ten seconds without a gap. Test machines may be busy, so there are several attempts.
    @Test func tenSecondsPlayWithoutUnderrunsOrGaps() throws {
      try PrivatePulseServer.withServer { server in
        for attempt in 1...3 {
          let recorder = try SinkRecorder(server.address)
          let performance = try Performance(.noise, on: server.address, tracker: [])
          try performance.begin()
          sleepSeconds(10)
          let recording = recorder.finish()
          let underruns = performance.events.filter { $0.event == "underrun" }.count
          #expect(performance.end().code == 143)
          let stage = HeardStage(recording, .noise)
          let heard = stage.audible.dropFirst(40)
          let gaps = zip(heard, heard.dropFirst()).filter { $1.frame - $0.frame != HeardStage.hop }
          print("10 s, attempt \(attempt): \(underruns) underruns, jumps \(stage.jumps)")
          if underruns == 0 {
            #expect(stage.jumps.isEmpty)
            #expect(gaps.isEmpty)
            #expect(heard.allSatisfy { $0.residualDecibels < -60 })
            return
          }
          recordRetry("\(underruns) underruns")
        }
        Issue.record("the queue ran dry in each of three runs")
      }
    }

    private func frames(_ start: Int64, _ end: Int64) -> Int {
      Int(Double(end - start) * 1e-9 * Recording.sampleRate)
    }
  }
}
