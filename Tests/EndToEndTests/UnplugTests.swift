// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Laboratory

extension EndToEndTests {
  @Suite(.serialized) struct UnplugTests {
    private struct Times {
      var unplugged: Int64 = 0
      var plugged: Int64 = 0
      var end: Int64 = 0
    }

    /// Plays with a wireless tracker, which keeps its reference frame while it is disconnected.
    private func unplugAndPlug(_ scene: Scene) throws -> (Times, Recording) {
      try PrivatePulseServer.withServer { server in
        let recorder = try SinkRecorder(server.address)
        let performance = try Performance(
          scene, on: server.address, tracker: ["--bus", "bluetooth"])
        try performance.begin()
        sleepSeconds(0.6)
        _ = try performance.move("pose 60 0 0")
        sleepSeconds(0.7)
        let unplugged = try performance.sendToTracker("unplug")
        try performance.event("tracker-lost")
        sleepSeconds(1.6)
        let plugged = try performance.sendToTracker("plug")
        try performance.event("tracker-connected", count: 2)
        sleepSeconds(1.1)
        let end = try performance.sendToTracker("rate 100")
        sleepSeconds(0.2)
        let recording = recorder.finish()
        #expect(performance.end().code == 143)
        return (Times(unplugged: unplugged, plugged: plugged, end: end), recording)
      }
    }

    @Test func stageEasesToTheFrontWhileTheTrackerIsUnplugged() throws {
      var times = Times()
      var read: HeardStage?
      try whileBroken {
        let recording: Recording
        (times, recording) = try unplugAndPlug(.noise)
        let heard = HeardStage(recording, .noise)
        read = heard
        return !heard.isUnbroken
      }
      let stage = try #require(read)
      #expect(
        stage.between(times.unplugged - 200_000_000, times.unplugged).allSatisfy {
          abs($0.yaw - 60) < 0.5
        })
      let leaves = try #require(stage.first(after: times.unplugged) { $0.yaw < 59 })
      let front = try #require(stage.first(after: times.unplugged) { abs($0.yaw) < 1 })
      let comes = try #require(stage.first(after: times.plugged) { $0.yaw > 1 })
      let back = try #require(stage.first(after: times.plugged) { abs($0.yaw - 60) < 1 })
      print(
        "tracker unplugged: the pose holds for",
        milliseconds(times.unplugged, leaves.time), "ms and the stage is in front after",
        milliseconds(times.unplugged, front.time), "ms")
      print(
        "tracker plugged in: the stage begins to come back after",
        milliseconds(times.plugged, comes.time), "ms and is back after",
        milliseconds(times.plugged, back.time), "ms")
      #expect(milliseconds(times.unplugged, leaves.time) > 100)
      #expect(milliseconds(times.unplugged, front.time) < 1400)
      #expect(stage.between(front.time, times.plugged).allSatisfy { abs($0.yaw) < 1 })
      #expect(milliseconds(times.plugged, back.time) < 1800)
      let steady = stage.between(times.unplugged - 200_000_000, times.end)
      let yaws = steady.map(\.yaw)
      let step = zip(yaws, yaws.dropFirst()).map { abs($1 - $0) }.max() ?? .infinity
      let residual = steady.map(\.residualDecibels).max() ?? 0
      let gains = steady.map(\.gain)
      print(
        "tracker unplugged and back: at most \(step) degrees in 2 ms, gain",
        "\(gains.min() ?? 0) to \(gains.max() ?? 0), unexplained \(residual) dB")
      // The way back over 60 degrees takes 0.3 s: at most 0.75 degrees in 2 ms.
      #expect(step < 1.5)
      #expect(residual < -35)
      #expect(stage.jumps.isEmpty)
    }

    @Test func unpluggingTheTrackerCausesNoClick() throws {
      var times = Times()
      var recording: Recording?
      try whileBroken {
        let (newTimes, all) = try unplugAndPlug(.tone)
        (times, recording) = (newTimes, all)
        return all.hasGap(from: newTimes.unplugged - 300_000_000, to: newTimes.end)
      }
      let all = try #require(recording)
      let start = times.unplugged - 200_000_000
      let calm = all.worstSpuriousDecibels(1000, from: start, to: times.unplugged)
      let worst = all.worstSpuriousDecibels(1000, from: times.unplugged, to: times.end)
      print(
        "tracker unplugged and back: a 1 kHz tone's energy beyond +-100 Hz is at most",
        "\(worst) dB in any 50 ms (\(calm) dB before)")
      #expect(calm < -80)
      #expect(worst < -50)
    }

    /// A wired tracker loses its reference frame with its power.
    @Test func theListenerLearnsThatTheTrackerIsGoneAndThatTheFrontIsNew() throws {
      try PrivatePulseServer.withServer { server in
        let performance = try Performance(
          .noise, on: server.address, tracker: ["--bus", "usb"], hasTerminal: true)
        try performance.begin()
        sleepSeconds(0.5)
        performance.program.type("c")
        #expect(
          waitUntil(seconds: 5) {
            usleep(20_000)
            return String(decoding: performance.program.bytes, as: UTF8.self).contains("recentred")
          })
        try performance.sendToTracker("unplug")
        try performance.event("tracker-lost")
        // The pose counts as lost when the last sample has been stale for 1 s.
        sleepSeconds(1.5)
        performance.program.type("c")
        _ = try performance.program.line(
          with: "there is nothing to recentre: the tracker is disconnected or silent")
        try performance.sendToTracker("plug")
        _ = try performance.program.line(with: "the direction that you face now becomes the front")
        performance.program.type("q")
        #expect(performance.program.wait(seconds: 5) == 0)
      }
    }
  }
}
