// SPDX-License-Identifier: Apache-2.0

import CRealtime
import TestSupport
import Testing

@testable import Laboratory

extension EndToEndTests {
  @Suite(.serialized) struct SinkTests {
    private static let plain = ["--tracker", "none", "--loudness", "off"]

    @Test func sinkOptionSelectsTheSink() throws {
      try PrivatePulseServer.withServer { server in
        _ = try server.loadSink("other")
        let recorder = try SinkRecorder(server.address, sink: "other")
        let performance = try Performance(
          .noise, on: server.address, Self.plain + ["--sink", "other"])
        #expect(try performance.event("connected", seconds: 20).sink == "other")
        sleepSeconds(0.8)
        #expect(performance.end().code == 143)
        #expect(HeardStage(recorder.finish(), .noise).audible.count > 200)
      }
    }

    @Test func unknownSinkErrorListsTheSinks() throws {
      try PrivatePulseServer.withServer { server in
        _ = try server.loadSink("other")
        let run = try play(on: server.address, ["--sink", "nowhere"])
        #expect(run.exitCode == 1)
        #expect(run.errors.contains("nowhere"))
        #expect(run.errors.contains("ears") && run.errors.contains("other"))
        expectOneLine(run)
      }
    }

    @Test func missingServerEndsPlayQuickly() throws {
      let start = monotonicNow()
      let run = try play(on: "unix:/nonexistent/pulse", [])
      let took = milliseconds(start, monotonicNow())
      print("no server: exit code \(run.exitCode) after \(took) ms: \(run.errors)", terminator: "")
      #expect(run.exitCode == 1)
      #expect(took < 2500)
      expectOneLine(run)
    }

    @Test func unresponsiveServerEndsPlay() throws {
      try PrivatePulseServer.withServer { server in
        server.freeze()
        let start = monotonicNow()
        let run = try play(on: server.address, [])
        let took = milliseconds(start, monotonicNow())
        print(
          "mute server: exit code \(run.exitCode) after \(took) ms: \(run.errors)", terminator: "")
        server.thaw()
        #expect(run.exitCode == 1)
        #expect(took < 2500)
        expectOneLine(run)
      }
    }

    private func play(on server: String, _ arguments: [String]) throws -> ProgramRun {
      try ProgramRun.of(
        Product.stillstage, ["play", Scene.noise.path] + Self.plain + arguments,
        environment: ["PULSE_SERVER": server])
    }

    private func expectOneLine(_ run: ProgramRun) {
      #expect(run.output == "")
      #expect(run.errors.hasPrefix("stillstage: "))
      #expect(run.errors.filter { $0 == "\n" }.count == 1)
    }

    @Test func playbackFollowsTheDefaultSink() throws {
      try PrivatePulseServer.withServer { server in
        let module = try server.loadSink("other")
        let ears = try SinkRecorder(server.address)
        let performance = try Performance(.noise, on: server.address, Self.plain)
        try performance.begin()
        sleepSeconds(0.6)
        let other = try SinkRecorder(server.address, sink: "other")
        let changed = monotonicNow()
        try server.pactl(["set-default-sink", "other"])
        #expect(try performance.event("moved").sink == "other")
        try performance.event("default-sink")
        sleepSeconds(0.6)
        let inOther = other.finish()
        let removed = monotonicNow()
        try server.unload(module: module)
        #expect(try performance.event("moved", count: 2).sink == "ears")
        sleepSeconds(0.6)
        let inEars = ears.finish()
        #expect(performance.end().code == 143)
        let anywhere = 0..<Scene.noise.frames
        let first = HeardStage(inEars, .noise, times: 0...changed + 400_000_000)
        let second = HeardStage(inOther, .noise, startsWithin: anywhere)
        let third = HeardStage(
          inEars, .noise, times: removed...Int64.max / 2, startsWithin: anywhere)
        let parts = try [first, second, third].map { stage in
          let heard = stage.moments.compactMap(\.sourceFrame)
          return (first: try #require(heard.first), last: try #require(heard.last))
        }
        let there = Double(parts[1].first - parts[0].last) / 48
        let back = Double(parts[2].first - parts[1].last) / 48
        print("sink changed: \(there) ms of the source between both, \(back) ms on the way back")
        // The recorders start and end with a small offset from the change.
        #expect(abs(there) < 150 && abs(back) < 250)
        #expect(second.moments.last.map { abs($0.gain - 1) < 0.01 } == true)
        #expect(third.moments.last.map { abs($0.gain - 1) < 0.01 } == true)
      }
    }

    @Test func playbackResumesWhenARemovedSinkIsReplaced() throws {
      try PrivatePulseServer.withServer { server in
        let ears = try SinkRecorder(server.address)
        let performance = try Performance(.noise, on: server.address, Self.plain)
        try performance.begin()
        sleepSeconds(0.7)
        let gone = monotonicNow()
        try server.unloadAllSinks()
        try performance.event("sink-lost")
        let before = HeardStage(ears.finish(), .noise)
        let last = try #require(before.moments.last { $0.sourceFrame != nil })
        sleepSeconds(0.4)
        _ = try server.loadSink("spare")
        let came = monotonicNow()
        let spare = try SinkRecorder(server.address, sink: "spare")
        #expect(try performance.event("connected", count: 2).sink == "spare")
        sleepSeconds(0.7)
        let after = HeardStage(spare.finish(), .noise, startsWithin: 0..<4 * Scene.sampleRate)
        #expect(performance.end().code == 143)
        let first = try #require(after.moments.first { $0.sourceFrame != nil })
        let lost = (last.sourceFrame ?? 0) + Int(milliseconds(last.time, gone) * 48)
        let middle = HeardStage.middle(ofRamp: after.moments).map { $0 - 1200 }
        let repeated = (Double(lost) - (middle ?? Double(first.sourceFrame ?? 0))) / 48
        print(
          "last sink removed: sound", milliseconds(came, first.time),
          "ms after another came, \(repeated) ms of the source repeated")
        #expect(milliseconds(came, first.time) < 500)
        #expect(repeated > -60 && repeated < 60)
        #expect(after.moments.last.map { abs($0.gain - 1) < 0.01 } == true)
      }
    }

    @Test func playbackResumesAfterASinkSuspension() throws {
      try PrivatePulseServer.withServer { server in
        let recorder = try SinkRecorder(server.address)
        let performance = try Performance(.noise, on: server.address, Self.plain)
        try performance.begin()
        sleepSeconds(0.7)
        try server.pactl(["suspend-sink", "ears", "1"])
        try performance.event("suspended")
        sleepSeconds(0.6)
        try server.pactl(["suspend-sink", "ears", "0"])
        try performance.event("unsuspended")
        sleepSeconds(0.8)
        let stage = HeardStage(recorder.finish(), .noise)
        #expect(performance.end().code == 143)
        let heard = stage.moments.compactMap(\.sourceFrame)
        let gap = zip(heard, heard.dropFirst()).map { $1 - $0 - HeardStage.hop }.max() ?? .max
        print("sink suspended: \(heard.count * 2) ms heard, \(Double(gap) / 48) ms passed over")
        #expect(heard.count > 500)
        #expect(gap < 48 * 100)
        #expect(stage.moments.last.map { abs($0.gain - 1) < 0.01 } == true)
      }
    }
  }
}
