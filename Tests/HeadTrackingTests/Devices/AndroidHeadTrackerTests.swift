// SPDX-License-Identifier: Apache-2.0

import Geometry
import Testing

@testable import HeadTracking

/// A simulated device that stores its feature reports.
private final class FakeFeatures: HIDFeatures {
  var reports: [UInt8: [UInt8]]
  var writes: [[UInt8]] = []

  init(_ reports: [UInt8: [UInt8]]) { self.reports = reports }

  func feature(id: UInt8, length: Int) throws(HeadTrackingError) -> [UInt8] {
    guard let report = reports[id] else { throw .featureFailed(report: Int(id), reason: "none") }
    return Array(report.prefix(length))
  }

  func setFeature(_ report: [UInt8]) throws(HeadTrackingError) {
    writes.append(report)
    reports[report[0]] = report
  }
}

@Suite struct AndroidHeadTrackerTests {
  private static let pi: Int64 = 314_159_265

  /// The descriptor of a tracker with fields as narrow as possible and one bit that the driver must
  /// not change.
  private func descriptor(letters: Int, transport: Bool = false, reporting: Bool = true)
    -> HIDReportDescriptor
  {
    var builder = DescriptorBuilder()
    builder.page(0x20)
    builder.usage(0xE1)
    builder.collection(1) { builder in
      builder.reportID(2)
      builder.item(0x14, 0, size: 1)
      builder.item(0x24, 255, size: 1)
      builder.shape(bits: 8, count: Int64(letters))
      builder.usage(0x308)
      builder.feature(3)
      builder.reportID(1)
      builder.logical(0, 1)
      builder.shape(bits: 1, count: 1)
      builder.usage(0x999)
      builder.feature(2)
      if reporting {
        builder.usage(0x841)
        builder.usage(0x840)
        builder.feature(0)
      }
      builder.usage(0x855)
      builder.usage(0x851)
      builder.feature(0)
      if transport {
        builder.usage(0xF801)
        builder.usage(0xF800)
        builder.feature(0)
      }
      builder.logical(0, 15)
      builder.physical(10, 160, exponent: -3)
      builder.shape(bits: 4, count: 1)
      builder.usage(0x30E)
      builder.feature(2)
      builder.logical(-32767, 32767)
      builder.physical(-Self.pi, Self.pi, exponent: -8)
      builder.shape(bits: 16, count: 3)
      builder.usage(0x544)
      builder.input(2)
      builder.physical(-32, 32)
      builder.usage(0x545)
      builder.input(2)
      builder.item(0x14, 0, size: 1)
      builder.item(0x24, 255, size: 1)
      builder.physical(0, 0)
      builder.shape(bits: 8, count: 1)
      builder.usage(0x546)
      builder.input(2)
    }
    return HIDReportDescriptor(builder.bytes)
  }

  private func tracker(
    _ text: String = "#AndroidHeadTracker#1.0", transport: Bool = false, reporting: Bool = true
  ) throws -> (AndroidHeadTracker, FakeFeatures) {
    let features = FakeFeatures([2: [2] + Array(text.utf8), 1: [1, 0b0000_0001]])
    let driver = try AndroidHeadTracker(
      descriptor: descriptor(
        letters: text.utf8.count, transport: transport, reporting: reporting),
      features: features, path: "/dev/hidraw7")
    return (driver, features)
  }

  /// Builds an input report from an orientation (a rotation vector; x right, y front, z up) and a
  /// rate.
  private func report(
    turn: SIMD3<Double>, rate: SIMD3<Double> = .zero, counter: UInt8 = 0
  ) -> [UInt8] {
    var bytes: [UInt8] = [1]
    for value in [turn.x, turn.y, turn.z] {
      let raw = Int16((value / Double.pi * 32767).rounded())
      bytes += [UInt8(truncatingIfNeeded: raw), UInt8(truncatingIfNeeded: raw >> 8)]
    }
    for value in [rate.x, rate.y, rate.z] {
      let raw = Int16((value / 32 * 32767).rounded())
      bytes += [UInt8(truncatingIfNeeded: raw), UInt8(truncatingIfNeeded: raw >> 8)]
    }
    return bytes + [counter]
  }

  @Test func startAndStopSetSelectorsAndKeepOtherBits() throws {
    let (driver, features) = try tracker()
    try driver.start(features: features)
    // Bits: the foreign bit 1, all events index 0, full power index 1, interval raw 0.
    #expect(features.writes == [[1, 0b0000_0101]])
    try driver.stop(features: features)
    #expect(features.writes.last == [1, 0b0000_0011])
  }

  @Test(arguments: [("1", UInt8(1)), ("2", 0), ("3", 1)])
  func version2ChoosesASupportedTransport(offer: String, bit: UInt8) throws {
    let (driver, features) = try tracker("#AndroidHeadTracker#2.0#\(offer)", transport: true)
    try driver.start(features: features)
    #expect(features.reports[1]![1] >> 3 & 1 == bit)
  }

  @Test(arguments: [
    (YawPitchRoll(yaw: 30), SIMD3(0.0, 0, 1)), (YawPitchRoll(pitch: 30), SIMD3(1, 0, 0)),
    (YawPitchRoll(roll: 30), SIMD3(0, 1, 0)),
  ])
  func axesAreRightFrontUp(angles: YawPitchRoll, axis: SIMD3<Double>) throws {
    let (driver, _) = try tracker()
    let bytes = report(turn: axis * (Double.pi / 6), rate: axis * 0.5)
    let sample = try #require(driver.decode(bytes, time: 5, axes: .rightFrontUp))
    #expect(Quaternion.angle(between: sample.headToWorld, angles.quaternion) < 1e-4)
    let rate = try #require(sample.angularVelocity)
    let expected = angles.quaternion.rotationVector * (0.5 / (Double.pi / 6))
    #expect(((rate - expected) * (rate - expected)).sum() < 1e-5)
  }

  @Test func reportsDiscontinuitiesAndIgnoresAZeroGyroscope() throws {
    let (driver, _) = try tracker()
    let bytes = report(turn: SIMD3(0.1, 0, 0), counter: 200)
    let sample = try #require(driver.decode(bytes, time: 5, axes: .rightFrontUp))
    #expect(sample.angularVelocity == nil)
    #expect(sample.discontinuityCount == 200)
  }

  @Test func refusesInvalidReports() throws {
    let (driver, _) = try tracker()
    let good = report(turn: SIMD3(0.1, 0.2, 0.3))
    #expect(driver.decode([], time: 0, axes: .rightFrontUp) == nil)
    #expect(driver.decode([9] + good.dropFirst(), time: 0, axes: .rightFrontUp) == nil)
    #expect(driver.decode(Array(good.prefix(6)), time: 0, axes: .rightFrontUp) == nil)
    let tooLong = report(turn: SIMD3(3, 3, 3))
    #expect(driver.decode(tooLong, time: 0, axes: .rightFrontUp) == nil)
  }

  @Test func refusesUnknownDescriptionsAndMissingSelectors() throws {
    #expect(throws: HeadTrackingError.self) { try tracker("#SomethingElse#1.0") }
    let (driver, features) = try tracker(reporting: false)
    #expect(throws: HeadTrackingError.self) { try driver.start(features: features) }
  }

  @Test func axisMapsAreParsedAndMirroredOnesRefused() throws {
    let v = SIMD3(1.0, 2, 3)
    #expect(try AxisMap("y,-x,z") == .rightFrontUp)
    #expect(try AxisMap(" X, +y ,z").apply(v) == v)
    #expect(try AxisMap("-x,-y,z").apply(v) == SIMD3(-1, -2, 3))
    #expect(AxisMap.rightFrontUp.apply(v) == SIMD3(2, -1, 3))
    for text in ["x,y", "x,y,-z", "y,x,z", "x,x,z", "x,y,w", "", "x,y,z,x"] {
      #expect(throws: HeadTrackingError.badAxisMap(text)) { try AxisMap(text) }
    }
  }
}
