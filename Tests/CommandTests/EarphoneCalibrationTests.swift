// SPDX-License-Identifier: Apache-2.0

import Geometry
import HeadTracking
import TestSupport
import Testing

@testable import BluetoothTracking

/// Tests `calibrate` with captures of simulated Galaxy Buds that sit obliquely in the ear.
@Suite struct EarphoneCalibrationTests {
  /// The rotation from the head's axes to the sensor's.
  private static let mounting = YawPitchRoll(yaw: 35, pitch: -20, roll: 60).quaternion

  /// Returns a capture in which the head holds each pose for some seconds, and moves for a second
  /// between two poses.
  private func capture(_ poses: [(seconds: Double, yaw: Double, pitch: Double)]) -> String {
    var text = FrameFile.heading(.galaxyBuds)
    var (time, previous) = (0.0, poses[0])
    for pose in poses {
      for step in 0..<Int((pose.seconds + 1) * 50) {
        let share = min(1, Double(step) / 50)
        let head = YawPitchRoll(
          yaw: previous.yaw + share * (pose.yaw - previous.yaw),
          pitch: previous.pitch + share * (pose.pitch - previous.pitch), roll: 0)
        let bytes = frame(head.quaternion * Self.mounting)
        text += FrameFile.line(.init(time: time, direction: .received, bytes: bytes))
        time += 0.02
      }
      previous = pose
    }
    return text
  }

  /// The data frame of an orientation: x, y, z, w in units of 1/10000.
  private func frame(_ turn: Quaternion) -> [UInt8] {
    let numbers = [turn.x, turn.y, turn.z, turn.w].flatMap { number in
      let bits = UInt16(bitPattern: Int16((number * 10000).rounded()))
      return [UInt8(bits & 0xFF), UInt8(bits >> 8)]
    }
    return GalaxyFrame(id: 0xC2, payload: [32] + numbers + [0]).bytes
  }

  private func calibrate(_ capture: String, _ options: [String] = []) throws -> ProgramRun {
    let folder = TemporaryFolder()
    let path = try folder.write(capture, to: "capture.txt")
    return try ProgramRun.of(
      Stillstage.path, ["calibrate", "replay:\(path)", "--dry-run"] + options,
      environment: ["XDG_CONFIG_HOME": folder.file("config")], timeoutSeconds: 60)
  }

  @Test("Three poses of earphones give their mounting, with the turn as measured")
  func calibrates() throws {
    let run = try calibrate(capture([(7, 0, 0), (3, 0, 35), (3, 0, 0), (3, 88, 0)]))
    #expect(run.exitCode == 0, "\(run.errors)")
    #expect(run.output.contains("\"mounting\""))
    let line = run.output.split(separator: "\n").first { $0.contains("Turn by 90 degrees") }
    let words = try #require(line).split(separator: " ")
    #expect(abs((words.compactMap { Double($0) }.last ?? 0) - 88) < 1)
  }

  @Test("A turn by 65 degrees is refused, and nothing is saved")
  func refuses() throws {
    let run = try calibrate(capture([(7, 0, 0), (3, 0, 35), (3, 0, 0), (3, 65, 0)]))
    #expect(run.exitCode == 1)
    #expect(run.errors.contains("measured 65.0 degrees"), "\(run.errors)")
  }
}
