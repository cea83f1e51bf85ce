// SPDX-License-Identifier: Apache-2.0

import Geometry
import System

@testable import HeadTracking

/// Feeds arbitrary bytes to every driver and to the descriptor parser, and stops the program if the
/// output is invalid. A test uses it, and `make fuzz` through libFuzzer.
///
/// The first byte selects the target, the second its variant. The rest is split into records with a
/// length prefix: first replies to the driver's requests, then its reports.
enum ReportFuzz {
  static let targets = 19

  static func run(_ bytes: [UInt8]) {
    guard bytes.count >= 2 else { return }
    let rest = Array(bytes.dropFirst(2))
    switch Int(bytes[0]) % targets {
    case 0: descriptor(rest)
    case 1: android(rest)
    case 2: _ = XREALCalibration(rest)
    case 3: attempt(XREAL(productID: bytes[1] & 1 == 0 ? 0x0424 : 0x0426), rest)
    case 4: attempt(DualSense(), rest)
    case 5: attempt(DualShock4(bus: bytes[1] & 1 == 0 ? .usb : .bluetooth), rest)
    case 6: attempt(SwitchController(productID: 0x2009, bus: .usb), rest)
    case 7: attempt(SwitchController(productID: 0x2007, bus: .bluetooth), rest)
    case 8: attempt(OculusRift(productID: 0x0001), rest)
    case 9: attempt(OculusRift(productID: 0x0021), rest)
    case 10: attempt(OculusRift(productID: 0x0031), rest)
    case 11: attempt(PlayStationVR(SimulatedLink.node, among: []), rest)
    case 12: attempt(HackerDevKit(), rest)
    case 13: profile(rest, how: bytes[1])
    case 14: attempt(RayNeo(), rest)
    case 15:
      guard let driver = try? VITURESensor(SimulatedLink.node, among: []) else { return }
      attempt(driver, rest)
    case 16: attempt(VITUREPose(SimulatedLink.node, among: []), rest)
    case 17: attempt(Rokid(), rest)
    default: attempt(RokidMax2(), rest)
    }
  }

  /// Starts the driver on the first records and makes it decode all records.
  private static func attempt(_ driver: some TrackerDriver, _ bytes: [UInt8]) {
    var driver = driver
    let records = records(bytes)
    let link = SimulatedLink(records)
    try? driver.start(link)
    let source = HeadPoseSource()
    var intake = TrackerIntake(sink: source, fusion: .default, record: nil) { _ in }
    var now: Int64 = 1_000_000_000
    var last = Int64.min
    for record in records {
      now += 4_000_000
      for reading in driver.decode(record, arrival: now) ?? [] {
        if case .inertial(let sample) = reading {
          require(sample.time <= now + 1_000_000 && sample.time > last, "time")
          last = sample.time
        }
        intake.take(reading)
      }
      let pose = source.pose(at: now, now: now)
      require(abs(pose.squaredNorm - 1) < 1e-9, "pose")
    }
    driver.keepAlive(link, now: now)
    driver.stop(link)
  }

  private static func descriptor(_ bytes: [UInt8]) {
    let descriptor = HIDReportDescriptor(bytes)
    for kind in [HIDReportKind.input, .output, .feature] {
      for id: UInt8 in [0, 1, 2, 255] {
        require(descriptor.reportLength(kind, id: id) <= 16384, "report length")
      }
    }
    for field in descriptor.fields.prefix(256) {
      for element in [0, field.count - 1, field.count] {
        _ = field.usage(of: element)
        _ = field.physicalValue(in: bytes, element: element)
        var report = bytes
        field.set(-1, in: &report, element: element)
        _ = field.raw(nearestTo: 0.01)
      }
    }
  }

  /// Splits the bytes at the first five zeros: the descriptor before them, the records after them.
  private static func split(_ bytes: [UInt8]) -> (descriptor: [UInt8], rest: [UInt8]) {
    let mark = [UInt8](repeating: 0, count: 5)
    guard bytes.count > 5 else { return (bytes, []) }
    for start in 0...bytes.count - 5 where bytes[start..<start + 5].elementsEqual(mark) {
      return (Array(bytes[..<start]), Array(bytes[(start + 5)...]))
    }
    return (bytes, [])
  }

  private static func android(_ bytes: [UInt8]) {
    let (head, rest) = split(bytes)
    let descriptor = HIDReportDescriptor(head)
    let link = SimulatedLink(records(rest))
    if let driver = try? AndroidHeadTracker(descriptor: descriptor, features: link, path: "") {
      attempt(driver, rest)
    }
  }

  private static func profile(_ bytes: [UInt8], how: UInt8) {
    let (head, rest) = split(bytes)
    var signals: [TrackerProfile.Signal: TrackerProfile.Number] = [:]
    let types = TrackerProfile.NumberType.allCases
    for (index, signal) in TrackerProfile.Signal.allCases.enumerated() where index >= Int(how) % 12
    {
      let usage = HIDUsage(page: 1, usage: UInt16(0x30 + index % 8))
      let byte = TrackerProfile.Place.byte(2 * index, types[(index + Int(how)) % types.count])
      let place = how & 0x80 == 0 ? byte : .usage(usage, element: index)
      signals[signal] = TrackerProfile.Number(place, scale: 0.01)
    }
    let profile = TrackerProfile(name: "fuzz", vendorID: 1, signals: signals)
    let descriptor = HIDReportDescriptor(head)
    if let driver = try? ProfiledTracker(profile, descriptor: descriptor, path: "") {
      attempt(driver, rest)
    }
  }

  /// Splits bytes into records, and corrects checksums that random data would never match.
  private static func records(_ bytes: [UInt8]) -> [[UInt8]] {
    var records: [[UInt8]] = []
    var at = 0
    while at < bytes.count, records.count < 64 {
      let end = min(bytes.count, at + 1 + Int(bytes[at]))
      records.append(sealed(Array(bytes[(at + 1)..<end])))
      at = end
    }
    return records
  }

  private static func sealed(_ record: [UInt8]) -> [UInt8] {
    var record = record
    if record.count == 78, [0x11, 0x31].contains(record[0]) {
      record.replaceSubrange(74..., with: [UInt8].bytes(CRC32.of([0xA1] + record[..<74])))
    } else if record.count == 41, record[0] == 0x05 {
      record.replaceSubrange(37..., with: [UInt8].bytes(CRC32.of([0xA3] + record[..<37])))
    } else if record.count >= 8, record[0] == 0xAA {
      let length = Int(record.u16(5))
      guard 5 + length <= record.count else { return record }
      record.replaceSubrange(1..<5, with: [UInt8].bytes(CRC32.of(record[5..<5 + length])))
    } else if record.count >= 8, record[0] == 0x10, record[1] == 0 {
      let end = min(8 + Int(record.u16(4)), record.count)
      let sum = record[8..<end].reduce(UInt16(0)) { $0 &+ UInt16($1) }
      record.replaceSubrange(6..<8, with: [UInt8].bytes(sum))
    }
    return record
  }

  private static func require(_ condition: Bool, _ what: String) {
    precondition(condition, "a driver went wrong: \(what)")
  }
}

/// A simulated device that replies to each request with its next record, and is gone after the
/// last.
final class SimulatedLink: TrackerLink {
  static let node = HIDNode(
    path: "", vendorID: 0, productID: 0, serial: "", manufacturer: "", product: "", bus: .usb,
    interface: 4, usages: [])

  private var records: ArraySlice<[UInt8]>
  let kernelDriver = ""

  init(_ records: [[UInt8]]) { self.records = records[...] }

  func feature(id: UInt8, length: Int) throws(HeadTrackingError) -> [UInt8] {
    guard let record = records.popFirst() else {
      throw .featureFailed(report: Int(id), reason: "gone")
    }
    return Array(record.prefix(length))
  }

  func setFeature(_ report: [UInt8]) throws(HeadTrackingError) {}
  func write(_ report: [UInt8]) throws(HeadTrackingError) {}

  func read(into buffer: inout [UInt8], timeoutMilliseconds: Int) -> HIDDevice.ReadResult {
    guard let record = records.popFirst() else { return .gone }
    let length = min(record.count, buffer.count)
    buffer.replaceSubrange(..<length, with: record[..<length])
    return length == 0 ? .nothing : .report(length: length)
  }
}
