// SPDX-License-Identifier: Apache-2.0

import Glibc
import System
import TestSupport
import Testing

/// Tests the real libhidapi with a virtual tracker (Calibration/virtual-tracker).
extension VirtualDevices {
  @Suite(.serialized) struct VirtualTrackerTests {
    private func start(_ options: [String], _ program: [String]) throws -> RunningProgram {
      for needed in ["/usr/bin/umockdev-wrapper", "/usr/bin/python3"]
      where access(needed, X_OK) != 0 {
        throw HelperFailure(
          description: "\(needed) is missing: apt install umockdev gir1.2-umockdev-1.0 python3-gi")
      }
      let script = VirtualSensor.root + "/Calibration/virtual-tracker/virtual_tracker.py"
      return try RunningProgram(
        ["/usr/bin/umockdev-wrapper", "/usr/bin/python3", script, "--stdin"] + options
          + ["--", VirtualSensor.probe] + program, input: .pipe)
    }

    /// The time at the end of a line, in nanoseconds.
    private func time(_ line: String) -> Double {
      line.split(separator: " ").last.flatMap { Double($0) } ?? .nan
    }

    private func milliseconds(from first: String, to second: String) -> Double {
      (time(second) - time(first)) * 1e-6
    }

    /// Waits until the probe reports the pose.
    @discardableResult
    private func expectPose(
      _ mock: RunningProgram, from start: Int = 0, yaw: Double, pitch: Double = 0, roll: Double = 0,
      within degrees: Double = 0.02, state: String = "fresh"
    ) throws -> String {
      try mock.line(from: start) { line in
        guard let pose = PrintedPose(line), pose.state == state else { return false }
        return abs(pose.yaw - yaw) < degrees && abs(pose.pitch - pitch) < degrees
          && abs(pose.roll - roll) < degrees
      }
    }

    @Test(arguments: ["usb", "bluetooth"])
    func listsEachTrackerOnceAndNothingElse(bus: String) throws {
      let mock = try start(
        ["--decoy", "--count", "2", "--bus", bus, "--product", "Kopfhörer 頭"], ["list"])
      #expect(mock.wait(seconds: 60) == 0)
      let trackers = mock.output.filter { $0.hasPrefix("tracker|") }
      #expect(
        trackers
          == (0..<2).map {
            "tracker|SN-000\($0 + 1)|/dev/hidraw\($0)|1d6b:0104|SN-000\($0 + 1)|Kopfhörer 頭|\(bus)"
              + "|#AndroidHeadTracker#1.0"
          })
    }

    @Test(arguments: [
      (["--count", "2"], "1d6b:0104", "several head trackers; choose from: SN-0001"),
      (["--count", "2"], "SN-0003", "choose from: SN-0001 (Virtual Head Tracker), SN-0002"),
      (["--absent", "--decoy"], "any", "none is connected"),
      (["--broken-description"], "any", "none is connected"),
    ])
    func ambiguousOrMissingTrackersGiveAnError(
      options: [String], id: String, message: String
    ) throws {
      let mock = try start(options, ["list", id])
      #expect(mock.wait(seconds: 60) == 1)
      #expect(mock.output.contains { $0.hasPrefix("error: ") && $0.contains(message) })
    }

    @Test func permissionErrorSuggestsTheUdevRule() throws {
      let mock = try start(["--deny"], ["drop", "list"])
      #expect(mock.wait(seconds: 60) == 0)
      let rule = "KERNEL==\"hidraw*\", KERNELS==\"0003:1D6B:0104.*\", TAG+=\"uaccess\""
      #expect(mock.output.contains { $0.contains("no permission") && $0.contains(rule) })
      #expect(mock.output.contains { $0.hasPrefix("tracker|SN-0001|") })
    }

    @Test(arguments: [("1", "example"), ("2", "example"), ("1", "wide"), ("2", "wide")])
    func followsTheHeadInEveryReportLayout(version: String, variant: String) throws {
      let mock = try start(["--version", version, "--variant", variant], ["watch", "auto", "20"])
      _ = try mock.line { $0.hasPrefix("event connected SN-0001") }
      // The first sample sets the front.
      try expectPose(mock, yaw: 0)
      for (yaw, pitch, roll) in [(90.0, 0.0, 0.0), (-30, 20, -10), (170, -35, 25)] {
        let from = mock.output.count
        mock.send("pose \(yaw) \(pitch) \(roll)")
        try expectPose(mock, from: from, yaw: yaw, pitch: pitch, roll: roll)
      }
      mock.send("quit")
      #expect(mock.wait(seconds: 60) == 0)
      let features = mock.output.filter { $0.hasPrefix("mock: feature") }
      #expect(!features.contains { $0.contains("wrong length") })
      let transport = version == "2" ? "f800" : "-"
      // 10 ms: raw 0 with an offset of 10 ms, or raw 10 with steps of 1 ms.
      let interval = variant == "wide" ? "a" : "0"
      let on = "reporting=841 power=851 interval=\(interval) transport=\(transport)"
      #expect(features.contains { $0.contains(on) })
      #expect(features.last?.contains("reporting=840 power=855") == true)
      let stopped = try #require(mock.output.first { $0.hasPrefix("stopped in") })
      print("tracker \(version) \(variant): \(stopped) ns")
      #expect(time(stopped) < 100e6)
    }

    @Test(arguments: ["usb", "bluetooth"])
    func unplugAndReplugAreDetectedRepeatedly(bus: String) throws {
      let mock = try start(["--bus", bus], ["watch", "auto", "20"])
      _ = try mock.line { $0.hasPrefix("event connected") }
      try expectPose(mock, yaw: 0)
      mock.send("pose 50 0 0")
      try expectPose(mock, yaw: 50)
      for round in 1...2 {
        var from = mock.output.count
        mock.send("unplug")
        let unplug = try mock.line(from: from) { $0.hasPrefix("mock: unplug at") }
        let lost = try mock.line(from: from) { $0.hasPrefix("event lost") }
        usleep(round == 1 ? 200_000 : 600_000)
        from = mock.output.count
        mock.send("plug")
        let plug = try mock.line(from: from) { $0.hasPrefix("mock: plug at") }
        let back = try mock.line(from: from) { $0.hasPrefix("event connected SN-0001") }
        print(
          "\(bus): unplug detected after \(milliseconds(from: unplug, to: lost)) ms,"
            + " replug after \(milliseconds(from: plug, to: back)) ms")
        #expect(milliseconds(from: unplug, to: lost) < 100)
        #expect(milliseconds(from: plug, to: back) < 1000)
        // Over a cable the tracker lost power and reference frame; with a battery it kept both.
        try expectPose(mock, from: mock.output.count, yaw: bus == "usb" ? 0 : 50)
      }
      #expect(!mock.output.contains { $0.hasPrefix("event failed") })
      let fronts = mock.output.count { $0.hasPrefix("event new front") }
      #expect(fronts == (bus == "usb" ? 2 : 0))
      mock.send("quit")
      #expect(mock.wait(seconds: 60) == 0)
    }

    /// Each reconnection takes some 0.4 s, the interval at which the session looks for trackers.
    @Test func reconnectionsLeaveNoDescriptorOpen() throws {
      let mock = try start(["--bus", "bluetooth"], ["watch", "auto", "300"])
      let program = try mock.line { $0.hasPrefix("mock: program ") }
      let pid = try #require(program.split(separator: " ").last.flatMap { Int32($0) })
      func descriptors() throws -> [String] {
        let folder = "/proc/\(pid)/fd"
        return try #require(SystemFile.names(in: folder)).map { name in
          SystemFile.resolved("\(folder)/\(name)") ?? "other"
        }.sorted()
      }
      func count(_ event: String) -> Int { mock.output.count { $0.hasPrefix(event) } }
      _ = try mock.line { $0.hasPrefix("event connected") }
      usleep(100_000)
      let before = try descriptors()
      for round in 1...200 {
        let from = mock.output.count
        mock.send("unplug")
        _ = try mock.line(from: from) { $0.hasPrefix("event lost") }
        mock.send("plug")
        _ = try mock.line(from: from) { $0.hasPrefix("event connected") }
        if round % 50 == 0 { print("reconnection \(round): \(try descriptors().count) open") }
      }
      usleep(100_000)
      #expect(try descriptors().count == before.count)
      #expect(count("event connected") == 201 && count("event lost") == 200)
      mock.send("quit")
      #expect(mock.wait(seconds: 60) == 0)
    }

    @Test func arrivalIsDetectedAndSilenceEasesToTheFront() throws {
      let mock = try start(["--absent", "--decoy"], ["watch", "SN-0001", "20"])
      _ = try mock.line { $0.hasPrefix("event") }
      mock.send("plug")
      let plug = try mock.line { $0.hasPrefix("mock: plug at") }
      let connected = try mock.line { $0.hasPrefix("event connected SN-0001") }
      print("arrival detected after \(milliseconds(from: plug, to: connected)) ms")
      #expect(milliseconds(from: plug, to: connected) < 1000)
      try expectPose(mock, yaw: 0)
      mock.send("pose 60 0 0")
      try expectPose(mock, yaw: 60)
      let from = mock.output.count
      mock.send("mute on")
      let mute = try mock.line(from: from) { $0.hasPrefix("mock: mute") }
      let front = try expectPose(mock, from: from, yaw: 0, state: "stale")
      print("in front \(milliseconds(from: mute, to: front)) ms after the last report")
      #expect(milliseconds(from: mute, to: front) < 1250)
      let silent = mock.output.count
      mock.send("mute off")
      let again = try mock.line(from: silent) { $0.hasPrefix("mock: mute") }
      let back = try expectPose(mock, from: silent, yaw: 60)
      print("back \(milliseconds(from: again, to: back)) ms after the first report")
      #expect(milliseconds(from: again, to: back) < 450)
      mock.send("quit")
      #expect(mock.wait(seconds: 60) == 0)
    }

    @Test func jumpsNoiseZerosAndStallsDoNotTurnTheStage() throws {
      let mock = try start([], ["watch", "auto", "20"])
      _ = try mock.line { $0.hasPrefix("event connected") }
      try expectPose(mock, yaw: 0)
      mock.send("pose 30 0 0")
      try expectPose(mock, yaw: 30)
      let from = mock.output.count
      mock.send("jump 75")
      _ = try mock.line(from: from) { $0.hasPrefix("event discontinuity") }
      mock.send("noise 40")
      mock.send("stall 60")
      usleep(300_000)
      mock.send("zerogyro on")
      usleep(300_000)
      let yaws = mock.output.dropFirst(from).compactMap(PrintedPose.init).map { abs($0.yaw - 30) }
      // Noise of the right length and id is a valid rotation, but it is rare and disappears at
      // once.
      #expect(Double(yaws.filter { $0 < 0.1 }.count) > 0.9 * Double(yaws.count))
      let later = mock.output.count
      mock.send("turn 80 0.2")
      try expectPose(mock, from: later, yaw: 80, within: 0.05)
      mock.send("quit")
      #expect(mock.wait(seconds: 60) == 0)
      let counts = try #require(mock.output.first { $0.hasPrefix("accepted") }).split(
        separator: " ")
      #expect((Int(counts[3]) ?? 0) > 0)
    }

    /// The first tracker does not answer.
    @Test func trackerBesideOneThatDoesNotAnswerIsFoundAtOnce() throws {
      let mock = try start(["--count", "2", "--deaf", "1"], ["watch", "auto", "20"])
      let started = try mock.line { $0.hasPrefix("started at") }
      let connected = try mock.line { $0.hasPrefix("event connected SN-0002") }
      print("found after \(milliseconds(from: started, to: connected)) ms")
      #expect(milliseconds(from: started, to: connected) < 500)
      mock.send("quit")
      #expect(mock.wait(seconds: 60) == 0)
    }

    @Test func trackerThatDoesNotAnswerIsListedAfterASecond() throws {
      let mock = try start(["--count", "2", "--deaf", "1"], ["list"])
      #expect(mock.wait(seconds: 60) == 0)
      let listed = try #require(mock.output.first { $0.hasPrefix("listed in") })
      print("listed: \(time(listed) * 1e-6) ms")
      #expect((0.9e9..<1.5e9).contains(time(listed)))
      let error = mock.output.first { $0.hasPrefix("error: ") }
      #expect(
        error
          == "error: cannot open /dev/hidraw0: it did not answer within 1 s; reconnect the tracker "
          + "or choose another")
      #expect(mock.output.contains { $0.hasPrefix("tracker|SN-0002|") && $0.hasSuffix("#1.0") })
    }

    /// The tracker stops answering while it is open, so it cannot be switched off.
    @Test func sessionEndsWithinASecondIfTheTrackerDoesNotAnswer() throws {
      let mock = try start([], ["watch", "auto", "20"])
      _ = try mock.line { $0.hasPrefix("event connected") }
      mock.send("deaf 5")
      _ = try mock.line { $0.hasPrefix("mock: deaf") }
      mock.send("quit")
      #expect(mock.wait(seconds: 60) == 0)
      let stopped = try #require(mock.output.first { $0.hasPrefix("stopped in") })
      print("stopped: \(time(stopped) * 1e-6) ms")
      #expect((0.9e9..<1.5e9).contains(time(stopped)))
    }

    @Test func enumerationTakesLessThan40Milliseconds() throws {
      let mock = try start(["--decoy"], ["cost"])
      #expect(mock.wait(seconds: 60) == 0)
      let cost = try #require(mock.output.first { $0.hasPrefix("cost") })
      print("looking for trackers: \(time(cost) * 1e-6) ms")
      #expect(time(cost) < 40e6)
    }
  }
}
