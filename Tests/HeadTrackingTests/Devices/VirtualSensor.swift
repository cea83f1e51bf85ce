// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// The parent suite of all tests on virtual devices, which run one after the other because they
/// measure times.
@Suite(.serialized) struct VirtualDevices {
  private static let attempts = 4

  /// Repeats a check that a busy machine may disturb, because it starves virtual devices. The check
  /// fails only if it finds problems in every attempt; before each attempt but the first, the
  /// machine must be calm.
  static func retryingOnABusyMachine(_ name: String, _ problems: () throws -> [String]) throws {
    for attempt in 1...attempts {
      let found = try problems()
      if found.isEmpty { return }
      if attempt == attempts {
        Issue.record("\(name): \(found)")
      } else {
        recordRetry("\(name): \(found)")
        awaitCalm()
      }
    }
  }

  /// Waits for a second in which no short sleep was late, at most half a minute.
  private static func awaitCalm() {
    let clock = ContinuousClock()
    let begun = clock.now
    var calm = 0
    while calm < 100, clock.now - begun < .seconds(30) {
      let before = clock.now
      usleep(10_000)
      calm = clock.now - before < .milliseconds(15) ? calm + 1 : 0
    }
  }
}

/// The probe program on a virtual device (Tests/Fixtures/virtual_sensor.py).
enum VirtualSensor {
  static var root: String {
    #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()
  }

  static var probe: String { ProgramRun.builtProducts + "/tracker-probe" }

  /// Starts the probe on a virtual device.
  ///
  /// - Parameters:
  ///   - family: the device family and options such as `--bus bluetooth`.
  ///   - program: the arguments of the probe.
  static func start(_ family: [String], _ program: [String]) throws -> RunningProgram {
    for needed in ["/usr/bin/umockdev-wrapper", "/usr/bin/python3"]
    where access(needed, X_OK) != 0 {
      throw HelperFailure(
        description: "\(needed) is missing: apt install umockdev gir1.2-umockdev-1.0 python3-gi")
    }
    return try RunningProgram(
      [
        "/usr/bin/umockdev-wrapper", "/usr/bin/python3",
        root + "/Tests/Fixtures/virtual_sensor.py", "--stdin",
      ] + family + ["--", probe] + program, input: .pipe)
  }
}

/// A line of the probe with yaw, pitch and roll, in degrees.
struct PrintedPose {
  var yaw: Double
  var pitch: Double
  var roll: Double
  var state: String
  var time: Double

  init?(_ line: String) {
    let words = line.split(separator: " ")
    guard words.count == 7, words[0] == "pose" else { return nil }
    yaw = Double(words[1]) ?? .nan
    pitch = Double(words[2]) ?? .nan
    roll = Double(words[3]) ?? .nan
    state = String(words[4])
    time = Double(words[6]) ?? .nan
  }
}
