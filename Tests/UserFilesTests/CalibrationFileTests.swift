// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import HeadTracking
@testable import UserFiles

@Suite struct CalibrationFileTests {
  private let tracker = TrackerDescription(
    path: "/dev/hidraw0", vendorID: 0x1d6b, productID: 0x0104, serial: "SN-1", manufacturer: "",
    product: "Tracker", bus: .usb, protocolDescription: "", kind: .head, access: .ready, id: "SN-1")

  private var calibration: TrackerCalibration {
    get throws {
      TrackerCalibration(
        of: tracker, axes: try AxisMap("y,-x,z"), up: try #require(SignedAxis("-x")),
        gyroBias: SIMD3(0.001, -0.002, 0.003), gyroNoise: SIMD3(0.0001, 0.0002, 0.0003),
        forceNoise: SIMD3(0.01, 0.02, 0.03), rate: 99.5)
    }
  }

  private func write(_ text: String, _ folder: TemporaryFolder) throws -> UserFolder {
    let user = UserFolder(path: folder.path)
    _ = try ProgramRun.of("mkdir", ["-p", folder.file("trackers")])
    try folder.write(text, to: "trackers/1d6b-0104-SN-1.json")
    return user
  }

  @Test func writtenCalibrationReadsBack() throws {
    let folder = TemporaryFolder()
    let made = try calibration
    let user = try write(CalibrationFile.text(of: made), folder)
    let read = try #require(try CalibrationFile.read(for: tracker, in: user))
    #expect(read.axes == made.axes && read.up == made.up && read.serial == "SN-1")
    #expect(read.rate == 99.5)
    let off = try #require(read.gyroBias) - (try #require(made.gyroBias))
    #expect(abs(off.x) + abs(off.y) + abs(off.z) < 1e-7)
    #expect(read.gyroNoise != nil && read.forceNoise != nil)
  }

  @Test func missingFileMeansNoCalibration() throws {
    let folder = TemporaryFolder()
    #expect(try CalibrationFile.read(for: tracker, in: UserFolder(path: folder.path)) == nil)
  }

  @Test func unusableFilesAreRefusedWithTheReason() throws {
    let good = CalibrationFile.text(of: try calibration)
    for (old, new, reason) in [
      ("\"version\" : 1", "\"version\" : 0", "it has version 0, but this program reads version 1"),
      ("\"version\" : 1", "\"version\" : 2", "it has version 2, from a newer release"),
      ("\"version\" : 1", "\"edition\" : 1", "'version' is missing"),
      ("\"y,-x,z\"", "\"y,x,z\"", "'axes' must be a right-handed axis map"),
      ("\"up\" : \"-x\"", "\"up\" : \"w\"", "'up' must be an axis such as z or -x"),
      ("\"SN-1\"", "\"SN-2\"", "it belongs to Tracker with the serial number SN-2"),
      ("99.5", "-4", "the sample rate must be above 0 and at most 100000 Hz"),
      ("99.5", "\"fast\"", "'rateHertz' has the wrong type"),
      ("7531", "75310", "'tracker' must have a vendorID and a productID"),
      ("0.057296,", "50,", "the gyroscope's bias is above 5 degrees/s"),
      ("0.057296,", "", "'gyroBiasDegreesPerSecond' must be a list of three numbers"),
      ("{", "", "it is not valid JSON"),
    ] {
      let folder = TemporaryFolder()
      #expect(good.contains(old), "\(old)")
      let text = good.replacing(old, with: new, maxReplacements: 1)
      let user = try write(text, folder)
      #expect {
        try CalibrationFile.read(for: tracker, in: user)
      } throws: {
        "\($0)".contains("1d6b-0104-SN-1.json: \(reason)") && !"\($0)".contains("\n")
      }
    }
  }

  @Test func aSerialNumberCannotLeaveTheFolder() {
    var odd = tracker
    odd.serial = "../../a b/\u{1}é"
    let path = CalibrationFile.path(for: odd, in: UserFolder(path: "/u"))
    #expect(path == "/u/trackers/1d6b-0104-.._.._a_b___.json")
    odd.serial = ""
    #expect(
      CalibrationFile.path(for: odd, in: UserFolder(path: "/u")) == "/u/trackers/1d6b-0104.json")
  }
}
