// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import Synchronization
import Testing

@testable import HeadTracking

/// Tests sensors of the kernel's industrial I/O, in a folder that imitates /sys.
@Suite struct IndustrialSensorTests {
  /// A temporary tree: a sensor hub whose gyroscope and accelerometer are two devices, a chip that
  /// has both in one, and a light sensor.
  private final class Tree: FileTree {
    var devices: String { root + "/bus" }

    override init() throws {
      try super.init()
      mkdir(devices, 0o755)
    }

    func device(_ number: Int, at place: String, _ files: [String: String]) throws {
      let folder = "\(place)/iio:device\(number)"
      try self.folder(folder)
      link("bus/iio:device\(number)", to: folder)
      for (name, text) in files { write("\(folder)/\(name)", text) }
    }

    func axes(_ kind: String, _ numbers: [Int]) -> [String: String] {
      Dictionary(
        uniqueKeysWithValues: zip(["x", "y", "z"], numbers).map {
          ("in_\(kind)_\($0)_raw", "\($1)")
        })
    }
  }

  private func hub(_ tree: Tree) throws {
    let place = "devices/usb1/0003:8086:0AC2.0001"
    try tree.device(
      0, at: place + "/HID-SENSOR-200073.1.auto",
      tree.axes("accel", [10, -20, 981]).merging(
        ["name": "accel_3d", "in_accel_scale": "0.01", "in_accel_offset": "0"]) { $1 })
    try tree.device(
      1, at: place + "/HID-SENSOR-200076.2.auto",
      tree.axes("anglvel", [100, 200, -300]).merging(
        ["name": "gyro_3d", "in_anglvel_scale": "0.001", "in_anglvel_sampling_frequency": "120.0"])
      { $1 })
    try tree.device(2, at: place + "/HID-SENSOR-200041.3.auto", ["name": "als"])
  }

  @Test func sensorHubIsFoundAndRead() throws {
    let tree = try Tree()
    try hub(tree)
    let settings = TrackerSettings(sensorFolder: tree.devices)
    let trackers = TrackerList.current(settings)
    let list = trackers.trackers.filter { $0.bus == .iio }
    try #require(list.count == 1)
    #expect(list[0].kind == .device && list[0].protocolDescription == "IIO (sensor hub)")
    #expect(list[0].vendorAndProduct == "8086:0ac2")
    var connection = try trackers.connect(list[0], isCalibrated: false)
    var times: [Int64] = []
    for _ in 0..<60 {
      guard case .readings(let readings, 0) = connection.listen(timeoutMilliseconds: 50),
        case .inertial(let sample)? = readings.first
      else { throw HelperFailure(description: "no reading") }
      times.append(sample.time)
      // The kernel's axes are x right, y front, z up: front is y, left is -x.
      #expect(length(sample.angularVelocity - SIMD3(0.2, -0.1, -0.3)) < 1e-12)
      #expect(length(sample.specificForce - SIMD3(-0.2, -0.1, 9.81)) < 1e-12)
      #expect(sample.magneticField == nil)
    }
    let hertz = 59 / (Double(times[59] - times[0]) * 1e-9)
    #expect(abs(hertz / 120 - 1) < 0.15)
    tree.write(
      "devices/usb1/0003:8086:0AC2.0001/HID-SENSOR-200076.2.auto/iio:device1/in_anglvel_x_raw",
      "500")
    guard case .readings(let readings, _) = connection.listen(timeoutMilliseconds: 50),
      case .inertial(let sample)? = readings.first
    else { throw HelperFailure(description: "no reading") }
    #expect(abs(sample.angularVelocity.y + 0.5) < 1e-12)
    try run(
      "/usr/bin/truncate",
      [
        "-s", "0",
        tree.root
          + "/devices/usb1/0003:8086:0AC2.0001/HID-SENSOR-200076.2.auto/iio:device1"
          + "/in_anglvel_x_raw",
      ])
    guard case .gone = connection.listen(timeoutMilliseconds: 50) else {
      throw HelperFailure(description: "it should be gone")
    }
  }

  @Test func chipIsReadWithItsMountMatrix() throws {
    let tree = try Tree()
    var files = tree.axes("accel", [0, 0, 1000]).merging(tree.axes("anglvel", [10, 20, 30])) { $1 }
    files.merge(tree.axes("magn", [1, 2, 3])) { $1 }
    files.merge([
      "name": "bmi160", "in_accel_scale": "0.0098", "in_anglvel_x_scale": "0.1",
      "in_anglvel_y_scale": "0.1", "in_anglvel_z_scale": "0.1", "in_anglvel_offset": "5",
      "in_magn_scale": "0.1", "in_mount_matrix": "0, 1, 0; -1, 0, 0; 0, 0, 1",
    ]) { $1 }
    try tree.device(0, at: "devices/platform/i2c-1/1-0068", files)
    let settings = TrackerSettings(axes: .frontLeftUp, sensorFolder: tree.devices)
    let trackers = TrackerList.current(settings)
    let tracker = try trackers.match("iio:bmi160")
    var connection = try trackers.connect(tracker, isCalibrated: false)
    guard case .readings(let readings, _) = connection.listen(timeoutMilliseconds: 50),
      case .inertial(let sample)? = readings.first
    else { throw HelperFailure(description: "no reading") }
    #expect(length(sample.angularVelocity - SIMD3(2.5, -1.5, 3.5)) < 1e-12)
    #expect(length(sample.specificForce - SIMD3(0, 0, 9.8)) < 1e-12)
    let field = try #require(sample.magneticField)
    #expect(length(field - SIMD3(20, -10, 30)) < 1e-9)
  }

  @Test func sessionReadsIndustrialSensors() throws {
    let tree = try Tree()
    try hub(tree)
    let source = HeadPoseSource()
    let session = TrackerSession(
      .id("iio:accel_3d+gyro_3d"), feeding: source,
      settings: TrackerSettings(sensorFolder: tree.devices))
    session.start()
    defer { session.stop() }
    for _ in 0..<200 where source.status.acceptedCount < 30 { usleep(10_000) }
    #expect(source.status.acceptedCount >= 30)
    #expect(session.tracker?.bus == .iio)
  }

  @Test(arguments: [
    "", "1,0,0;0,1,0", "1,0,0;0,1,0;0,0,-1", "a,b,c;d,e,f;g,h,i", "9,0,0;0,9,0;0,0,9",
  ])
  func invalidMountMatricesAreIgnored(text: String) {
    #expect(SensorTriad.matrix(text) == nil)
  }
}
