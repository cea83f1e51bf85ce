// SPDX-License-Identifier: Apache-2.0

import System

/// VITURE Luma, Luma Pro, Luma Cyber, Pro 2 and Beast (35ca:1131, 1121, 1141, 1151, 1301, 1201,
/// 1211): glasses that report raw samples of a six-axis sensor at 120 Hz.
///
/// A packet consists of `10 00`, three 16-bit numbers (the message, the length of the payload and
/// the sum of its bytes) and the payload. Source: taowen/ar-glass-lib, driver/viture/beast, whose
/// axes agree with wheaney/XRLinuxDriver.
///
/// It is uncertain which HID interface carries the data. Commands go to all interfaces; data is
/// read from the one with the lowest number. The factory calibration and the magnetometer are not
/// used.
struct VITURESensor: TrackerDriver {
  let protocolDescription = "VITURE sensor"
  private let axes: AxisMap
  private let siblings: [HIDNode]
  private var clock = DeviceClock(nanosecondsPerTick: 1000)

  /// The head's axes in the sensor's axes: front is z, left is -x, up is -y.
  static let usualAxes = AxisMap(columns: SIMD3(2, 0, 1), signs: SIMD3(1, -1, -1))
  private static let products: Set<UInt16> = [
    0x1131, 0x1121, 0x1141, 0x1151, 0x1301, 0x1201, 0x1211,
  ]
  private static let streamMessage: UInt16 = 0x0301
  private static let dataMessage: UInt16 = 0x7309
  /// The payload that starts the stream: the code for 120 Hz, twice.
  private static let rate: [UInt8] = [2, 2]

  static func matches(_ node: HIDNode) -> Bool {
    node.vendorID == 0x35CA && products.contains(node.productID)
  }

  /// - Throws: `notAHeadTracker` if another interface of the same glasses has a lower number.
  init(
    _ node: HIDNode, among nodes: [HIDNode], axes: AxisMap? = nil
  ) throws(HeadTrackingError) {
    siblings = nodes.filter {
      $0.vendorID == node.vendorID && $0.productID == node.productID && $0.serial == node.serial
        && $0.interface != node.interface
    }
    guard siblings.allSatisfy({ $0.interface > node.interface }) else {
      throw .notAHeadTracker(
        path: node.path, reason: "another interface of the glasses serves as the tracker")
    }
    self.axes = axes ?? Self.usualAxes
  }
}

// MARK: Commands

extension VITURESensor {
  mutating func start(_ link: some TrackerLink) throws(HeadTrackingError) {
    clock = DeviceClock(nanosecondsPerTick: 1000)
    try send(Self.packet(Self.streamMessage, Self.rate), link)
  }

  mutating func stop(_ link: some TrackerLink) {
    try? send(Self.packet(Self.streamMessage, [0, 0]), link)
  }

  private func send(_ packet: [UInt8], _ link: some TrackerLink) throws(HeadTrackingError) {
    for node in siblings {
      guard let device = try? HIDDevice(node) else { continue }
      try? device.write(packet)
    }
    try link.write(packet)
  }

  static func packet(_ message: UInt16, _ payload: [UInt8]) -> [UInt8] {
    let words = [0x10, message, UInt16(payload.count), sum(payload[...])]
    return words.flatMap { [UInt8].bytes($0) } + payload
  }

  private static func sum(_ payload: ArraySlice<UInt8>) -> UInt16 {
    payload.reduce(0) { $0 &+ UInt16($1) }
  }
}

// MARK: Reports

extension VITURESensor {
  mutating func decode(_ report: [UInt8], arrival: Int64) -> [TrackerReading]? {
    guard report.count >= 8, report.u16(0) == 0x10 else { return nil }
    let end = 8 + Int(report.u16(4))
    guard end <= report.count, Self.sum(report[8..<end]) == report.u16(6) else { return nil }
    guard report.u16(2) == Self.dataMessage else { return [] }
    guard end >= 57 else { return nil }
    let rate = report.floats(18)
    let force = report.floats(30) * standardGravity
    guard rate.isReasonable, force.isReasonable else { return nil }
    let age = UInt64(report.u16(54)) | UInt64(report[56]) << 16
    let microseconds = UInt64(report.u32(12)) * 1000 + UInt64(report.u32(8))
    let time = clock.time(ticks: microseconds &- age, arrival: arrival)
    return [
      .inertial(
        InertialSample(
          time: time, angularVelocity: axes.apply(rate), specificForce: axes.apply(force)))
    ]
  }
}
