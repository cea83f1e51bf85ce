// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Laboratory

extension EndToEndTests {
  @Suite(.serialized) struct TerminalTests {
    private static let arrow = (up: "\u{1B}[A", right: "\u{1B}[C", left: "\u{1B}[D")

    /// The time of each key press.
    private struct Pressed {
      var (pause, resume, recenter) = (Int64(0), Int64(0), Int64(0))
      var (fixed, off, tracked) = (Int64(0), Int64(0), Int64(0))
      var (louder, forward, back, quit) = (Int64(0), Int64(0), Int64(0), Int64(0))
    }

    @Test func keysControlPlayback() throws {
      try PrivatePulseServer.withServer { server in
        let recorder = try SinkRecorder(server.address)
        let performance = try Performance(
          .noise, on: server.address, tracker: [], hasTerminal: true)
        let pressed = try pressKeys(performance)
        #expect(performance.program.wait(seconds: 5) == 0)
        let ended = performance.program.endTime ?? 0
        let recording = recorder.finish()
        print("key q: ended in", milliseconds(pressed.quit, ended), "ms")
        #expect(milliseconds(pressed.quit, ended) < 1000)
        try checkTerminal(performance, code: 0)
        try checkPause(pressed, recording)
        checkStage(pressed, recording)
        try checkSkips(pressed, recording)
        let modes = performance.events.filter { $0.event == "mode" }.compactMap(\.mode)
        #expect(modes == ["fixed", "off", "tracked"])
      }
    }

    private func pressKeys(_ performance: Performance) throws -> Pressed {
      func press(_ key: String, wait: Double) -> Int64 {
        performance.program.type(key)
        let time = monotonicNow()
        sleepSeconds(wait)
        return time
      }
      try performance.begin()
      sleepSeconds(0.8)
      var pressed = Pressed()
      pressed.pause = press(" ", wait: 0.7)
      pressed.resume = press("p", wait: 0.6)
      _ = try performance.move("pose 40 0 0")
      sleepSeconds(0.4)
      pressed.recenter = press("c", wait: 0.8)
      _ = try performance.move("pose 80 0 0")
      sleepSeconds(0.4)
      pressed.fixed = press("t", wait: 0.7)
      pressed.off = press("t", wait: 0.4)
      pressed.tracked = press("t", wait: 0.8)
      pressed.louder = press(Self.arrow.up, wait: 0.4)
      pressed.forward = press(Self.arrow.right, wait: 0.7)
      pressed.back = press(Self.arrow.left, wait: 0.7)
      pressed.quit = press("q", wait: 0)
      return pressed
    }

    /// Checks that a pause is soon silent and loses no part of the source.
    private func checkPause(_ pressed: Pressed, _ recording: Recording) throws {
      let (pause, resume) = (pressed.pause, pressed.resume)
      let stage = HeardStage(
        recording, .noise, times: pause - 400_000_000...resume + 500_000_000)
      let silent = try #require(stage.first(after: pause) { $0.gain == 0 })
      let again = try #require(stage.first(after: resume) { $0.gain > 0.02 })
      let down = try #require(HeardStage.middle(ofRamp: stage.between(pause, silent.time)))
      let up = try #require(HeardStage.middle(ofRamp: stage.between(resume, .max)))
      // Each of the two ramps of 50 ms contributes half its length.
      let lost = up - down - 2400
      print(
        "key space: silent after", milliseconds(pause, silent.time), "ms, heard again after",
        milliseconds(resume, again.time), "ms, \(lost) frames of the source lost")
      #expect(abs(lost) < 200)
      #expect(milliseconds(pause, silent.time) < 400)
      #expect(milliseconds(resume, again.time) < 400)
      #expect(stage.between(silent.time, resume).allSatisfy { $0.gain == 0 })
    }

    /// Returns the 60 ms of moments that end `seconds` after a key press.
    private func stage(
      _ recording: Recording, _ time: Int64, _ seconds: Double, skipped: Int = 0
    ) -> [HeardStage.Moment] {
      let end = time + Int64(seconds * 1e9)
      let moments = HeardStage(
        recording, .noise, times: end - 60_000_000...end,
        startsWithin: skipped..<skipped + 10 * Scene.sampleRate
      ).moments
      #expect(!moments.isEmpty)
      return moments
    }

    private func checkStage(_ pressed: Pressed, _ recording: Recording) {
      func looks(_ yaw: Double, _ time: Int64, _ seconds: Double) -> Bool {
        stage(recording, time, seconds).allSatisfy { abs($0.yaw - yaw) < 0.5 }
      }
      #expect(looks(40, pressed.recenter, 0))
      // The wait includes the motion of 0.4 s and the queue.
      #expect(looks(0, pressed.recenter, 0.75))
      #expect(looks(40, pressed.fixed, 0))
      #expect(looks(0, pressed.fixed, 0.6))
      let plain =
        recording.frame(
          at: pressed.off + 300_000_000)..<recording.frame(
          at: pressed.tracked)
      #expect(plain.count > 2400)
      #expect(plain.allSatisfy { recording.ears[0][$0] == recording.ears[1][$0] })
      #expect(looks(40, pressed.tracked, 0.75))
      #expect(stage(recording, pressed.tracked, 0.75).allSatisfy { abs($0.gain - 1) < 0.01 })
      #expect(stage(recording, pressed.louder, 0.35).allSatisfy { abs($0.gain - 1.122) < 0.01 })
    }

    private func checkSkips(_ pressed: Pressed, _ recording: Recording) throws {
      /// Returns the lead of the source over the clock, in seconds.
      func lead(_ time: Int64, _ seconds: Double, skipped: Int = 0) throws -> Double {
        let moments = stage(recording, time, seconds, skipped: skipped)
        let moment = moments.last { $0.sourceFrame != nil }
        let place = Double(try #require(moment?.sourceFrame)) / 48_000
        return place - Double(try #require(moment?.time)) * 1e-9
      }
      let here = try lead(pressed.louder, 0.35)
      let there = try lead(pressed.forward, 0.65, skipped: 10 * Scene.sampleRate)
      let home = try lead(pressed.back, 0.65)
      print("arrow right: \(there - here) s further, arrow left: \(home - there) s")
      // The tolerance beyond the ten seconds is for the fades.
      #expect(abs(there - here - 10) < 0.3)
      #expect(abs(home - there + 10) < 0.3)
    }

    @Test func interruptKeyEndsPlaybackAndRestoresTheTerminal() throws {
      try PrivatePulseServer.withServer { server in
        let performance = try Performance(
          .noise, on: server.address, ["--tracker", "none"], hasTerminal: true)
        try performance.begin()
        sleepSeconds(0.4)
        let pressed = monotonicNow()
        performance.program.type("\u{3}")
        #expect(performance.program.wait(seconds: 5) == 0)
        let ended = performance.program.endTime ?? 0
        print("key ctrl-C: ended in", milliseconds(pressed, ended), "ms")
        #expect(milliseconds(pressed, ended) < 1000)
        try checkTerminal(performance, code: 130)
      }
    }

    /// Checks the terminal's settings before and after, and the exit code, as printed by the shell.
    private func checkTerminal(_ performance: Performance, code: Int) throws {
      let lines = performance.program.lines.map(\.text)
      let before = try #require(lines.first { $0.hasPrefix("before ") }).dropFirst(7)
      let after = try #require(lines.last { $0.contains("after ") })
      #expect(before.count > 10)
      #expect(after.hasSuffix(before), "\(before) became \(after)")
      #expect(lines.contains { $0.hasSuffix("code \(code)") })
      // The status line appeared; it is overwritten in place.
      #expect(lines.contains { $0.contains("underruns") })
    }
  }
}
