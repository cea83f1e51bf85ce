// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import TestSupport
import Testing

/// Tests faults on a bus: the pose stays a finite unit quaternion, and recovers. The
/// probe checks the quaternion every 2 ms, and exits with an error line if it is invalid.
extension VirtualDevices {
  @Suite(.serialized) struct SensorFaultTests {
    /// The error of pitch and roll. The pose follows the wave, and its yaw at the first sample is
    /// the front.
    private func tilt(_ line: PrintedPose) -> Double {
      let truth = YawPitchRoll(WaveTruth.head(line.time * 1e-9))
      return max(abs(line.pitch - truth.pitch), abs(line.roll - truth.roll))
    }

    @Test(arguments: ["dualsense", "dualshock4", "switch-pro", "rift-dk2"])
    func fusedPoseFollowsTheHead(name: String) throws {
      // A busy machine starves the virtual device, and turns during gaps in its samples are lost.
      // Repeat such a run.
      for attempt in 1...3 {
        let (tilt, drift) = try errors(of: name)
        print("\(name): tilt p95 \(tilt), heading within \(drift) degrees")
        if tilt < 2.5, drift < 3 { return }
        #expect(attempt < 3)
      }
    }

    /// The 95th percentile of the errors of pitch and roll, and the spread of the yaw error, in
    /// degrees.
    private func errors(of name: String) throws -> (tilt: Double, drift: Double) {
      let mock = try VirtualSensor.start([name], ["watch", "SN-0001", "4"])
      #expect(mock.wait(seconds: 60) == 0)
      let poses = mock.output.compactMap(PrintedPose.init).filter { $0.state == "fresh" }
      try #require(poses.count > 300)
      let half = Array(poses.suffix(poses.count / 2))
      let headings = half.map { $0.yaw - YawPitchRoll(WaveTruth.head($0.time * 1e-9)).yaw }
      return (
        half.map(tilt).share(0.95), (headings.max() ?? .infinity) - (headings.min() ?? 0)
      )
    }

    /// Faults: garbage beside every report, wrong lengths, a clock that jumps by an hour, a stall
    /// of one second followed by a full queue.
    @Test(arguments: [
      ("xreal", ["noise on", "noise off"]), ("xreal", ["short on", "short off"]),
      ("xreal", ["jump 3600"]), ("xreal", ["jump -3600"]), ("xreal", ["stall 1000"]),
      ("dualshock4", ["stall 1000"]), ("dualshock4", ["jump 3600"]),
      ("dualsense", ["noise on", "noise off"]), ("dualsense", ["jump 3600"]),
      ("dualsense", ["stall 1000"]), ("switch-pro", ["stall 1000"]),
      ("switch-pro", ["noise on", "noise off"]), ("rift-dk1", ["stall 1000"]),
      ("hdk", ["noise on", "noise off"]), ("hdk", ["short on", "short off"]),
      ("psvr", ["jump 3600"]), ("bytes", ["jump -3600"]), ("bytes", ["short on", "short off"]),
    ])
    func readingsRecoverAfterFaults(name: String, faults: [String]) throws {
      try VirtualDevices.retryingOnABusyMachine("\(name), \(faults)") {
        try problems(of: name, after: faults)
      }
    }

    private func problems(of name: String, after faults: [String]) throws -> [String] {
      let mock = try VirtualSensor.start([name], ["raw", "SN-0001", "30"])
      _ = try mock.line { PrintedSample($0) != nil }
      usleep(700_000)
      for fault in faults {
        mock.send(fault)
        usleep(1_200_000)
      }
      // After a jump far forward or back, a clock is trusted again within two seconds.
      usleep(1_000_000)
      mock.send("quit")
      #expect(mock.wait(seconds: 60) == 0)
      #expect(!mock.output.contains { $0.hasPrefix("error") || $0.hasPrefix("event lost") })
      let samples = mock.output.compactMap(PrintedSample.init)
      let last = Array(samples.suffix(100))
      let ages = last.map { Double($0.arrival - $0.time) * 1e-6 }
      guard ages.share(0.95) < 150, ages.share(0) > -1 else { return ["ages \(ages)"] }
      // In these two, the motion itself jumps with the device's clock.
      guard !faults.contains(where: { $0.hasPrefix("jump") }) else { return [] }
      let errors =
        name == "hdk"
        ? last.map { Quaternion.angle(between: $0.head, WaveTruth.head($0.seconds)) }
        : last.map { length($0.vector(0) - WaveTruth.rate($0.seconds)) }
      return errors.share(0.5) < 0.02 ? [] : ["off by \(errors.share(0.5))"]
    }

    @Test(arguments: ["dualsense", "rift-dk2"])
    func trackerReconnectsAfterUnplugDuringFeatureReport(name: String) throws {
      let mock = try VirtualSensor.start(["--dies", name], ["raw", "SN-0001", "30"])
      usleep(1_500_000)
      mock.send("plug")
      _ = try mock.line { PrintedSample($0) != nil }
      mock.send("quit")
      #expect(mock.wait(seconds: 60) == 0)
      #expect(!mock.output.contains { $0.hasPrefix("error") })
    }

    @Test func permissionErrorSuggestsTheUdevRule() throws {
      let mock = try VirtualSensor.start(["--deny", "dualsense"], ["drop", "list"])
      #expect(mock.wait(seconds: 60) == 0)
      let rule = "KERNEL==\"hidraw*\", KERNELS==\"0003:054C:0CE6.*\", TAG+=\"uaccess\""
      #expect(mock.output.contains { $0.contains("no permission") && $0.contains(rule) })
    }

    @Test func identicalDevicesAreIdentifiedByPath() throws {
      let mock = try VirtualSensor.start(
        ["--count", "2", "--same", "dualsense"], ["raw", "/dev/hidraw1", "1"])
      #expect(mock.wait(seconds: 60) == 0)
      #expect(mock.output.contains { $0.hasPrefix("event connected /dev/hidraw1 ") })
      let list = try VirtualSensor.start(
        ["--count", "2", "--same", "dualsense"], ["list", "054c:0ce6"])
      #expect(list.wait(seconds: 60) == 1)
      #expect(list.output.contains { $0.contains("several") && $0.contains("/dev/hidraw0") })
    }

    @Test func autoNeverSelectsAGamepad() throws {
      let mock = try VirtualSensor.start(["dualsense"], ["raw", "auto", "1.2"])
      #expect(mock.wait(seconds: 60) == 0)
      #expect(mock.output.contains { $0.hasPrefix("event waiting") })
      #expect(!mock.output.contains { $0.hasPrefix("event connected") })
    }

    @Test(arguments: ["dualsense", "dualshock4", "switch-pro", "bytes"])
    func buttonRecentres(name: String) throws {
      let mock = try VirtualSensor.start([name], ["raw", "SN-0001", "20"])
      _ = try mock.line { PrintedSample($0) != nil }
      for _ in 0..<2 {
        let from = mock.output.count
        mock.send("button on")
        _ = try mock.line(from: from) { $0.hasPrefix("event recentered") }
        mock.send("button off")
        usleep(200_000)
      }
      mock.send("quit")
      #expect(mock.wait(seconds: 60) == 0)
      #expect(mock.output.filter { $0.hasPrefix("event recentered") }.count == 2)
    }

    @Test func keepAliveReportsAreSentToTheRift() throws {
      let mock = try VirtualSensor.start(["rift-dk1"], ["raw", "SN-0001", "8"])
      _ = try mock.line { PrintedSample($0) != nil }
      usleep(6_800_000)
      mock.send("log")
      _ = try mock.line { $0.hasPrefix("mock: log at") }
      let keepAlives = mock.output.filter { $0.hasPrefix("mock: feature 0800001027 0") }.count
      #expect((3...4).contains(keepAlives))
    }
  }
}
