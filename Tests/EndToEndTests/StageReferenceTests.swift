// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import TestSupport
import Testing

@testable import Laboratory

extension EndToEndTests {
  /// Tests the reference of the stage: a seat with its own tracker, and a front that was saved
  /// earlier.
  @Suite(.serialized) struct StageReferenceTests {
    private struct Ride {
      var begin: Int64 = 0
      var end: Int64 = 0
      var unplugged: Int64 = 0
      var last: Int64 = 0
    }

    /// The seat turns left under a head that does not move in the world. Relative to the stage,
    /// which moves with the seat, the head turns right.
    @Test func stageFollowsTheDeviceTracker() throws {
      var (ride, read): (Ride, HeardStage?) = (Ride(), nil)
      try whileBroken {
        let recording: Recording
        (ride, recording) = try playOnATurningSeat()
        let heard = HeardStage(recording, .noise)
        read = heard
        return !heard.isUnbroken
      }
      let stage = try #require(read)
      let before = stage.between(ride.begin - 300_000_000, ride.begin)
      let after = stage.between(ride.end - 300_000_000, ride.end)
      let alone = stage.between(ride.unplugged, ride.last)
      #expect(before.count > 100 && after.count > 100 && alone.count > 300)
      #expect(before.allSatisfy { abs($0.yaw) < 1 })
      #expect(after.allSatisfy { abs($0.yaw + 60) < 1 })
      let leap = zip(alone, alone.dropFirst()).map { abs($1.yaw - $0.yaw) }.max() ?? .infinity
      print("the seat's tracker unplugged: at most \(leap) degrees from moment to moment")
      #expect(leap < 2)
    }

    private func playOnATurningSeat() throws -> (Ride, Recording) {
      try PrivatePulseServer.withServer { server in
        let recorder = try SinkRecorder(server.address)
        // Commands go to the first of the two trackers.
        let performance = try Performance(
          .noise, on: server.address, ["--tracker", "SN-0002", "--device-tracker", "SN-0001"],
          tracker: ["--count", "2"])
        try performance.begin()
        try performance.event("device-tracker-connected", seconds: 10)
        sleepSeconds(1)
        var ride = Ride()
        ride.begin = try performance.sendToTracker("turn 60 1")
        sleepSeconds(2)
        ride.end = try performance.sendToTracker("rate 100")
        sleepSeconds(0.1)
        ride.unplugged = try performance.sendToTracker("unplug")
        sleepSeconds(2)
        ride.last = try performance.sendToTracker("rate 100")
        sleepSeconds(0.2)
        let recording = recorder.finish()
        #expect(performance.end().code == 143)
        return (ride, recording)
      }
    }

    /// The front of the last session is saved and applies to the next one.
    @Test func savedFrontAppliesToTheNextSession() throws {
      let state = TemporaryFolder()
      let file = state.file("stillstage/fronts.json")
      _ = try playKeeping(state, pose: 0)
      let kept = try JSONDecoder().decode(
        [String: Double].self, from: Data(contentsOf: URL(filePath: file)))
      #expect(abs(try #require(kept["SN-0001"])) < 0.5)
      try Data(#"{"SN-0001": 20, "other": 3}"#.utf8).write(to: URL(filePath: file))
      let (stage, end) = try playKeeping(state, pose: 50)
      let heard = stage.between(end - 300_000_000, end)
      #expect(heard.count > 100)
      #expect(heard.allSatisfy { abs($0.yaw - 30) < 2 })
      let again = try JSONDecoder().decode(
        [String: Double].self, from: Data(contentsOf: URL(filePath: file)))
      #expect(abs(try #require(again["SN-0001"]) - 20) < 2)
      #expect(again["other"] == 3)
    }

    /// Plays with a tracker that faces `pose` degrees left in its own frame when it is plugged in.
    private func playKeeping(_ state: TemporaryFolder, pose: Int) throws -> (HeardStage, Int64) {
      try PrivatePulseServer.withServer { server in
        let recorder = try SinkRecorder(server.address)
        let performance = try Performance(
          .noise, on: server.address, ["--keep-front"], tracker: ["--absent"],
          environment: ["XDG_STATE_HOME": state.path])
        try performance.event("connected", seconds: 60)
        try performance.sendToTracker("pose \(pose) 0 0")
        try performance.sendToTracker("plug")
        try performance.event("tracker-connected", seconds: 10)
        sleepSeconds(1.2)
        let end = try performance.sendToTracker("rate 100")
        sleepSeconds(0.2)
        let recording = recorder.finish()
        #expect(performance.end().code == 143)
        return (HeardStage(recording, .noise), end)
      }
    }
  }
}
