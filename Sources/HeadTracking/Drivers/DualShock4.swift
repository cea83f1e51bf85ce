// SPDX-License-Identifier: Apache-2.0

/// Sony DualShock 4 (054c:05c4, 09cc) by cable and by Bluetooth, and its wireless adapter (0ba0).
///
/// The pad has a six-axis sensor with a 16-bit clock (tick 16/3 us). Over Bluetooth, the pad sends
/// sensor data only after its calibration has been read. The PS button recentres. Source: Linux
/// 6.1, drivers/hid/hid-sony.c.
///
/// The order of the gyroscope's calibration readings depends on the connection. The signs of the
/// readings show the order. As for `DualSense`, the sampling rate over Bluetooth and the signs of
/// the angular velocity are uncertain.
struct DualShock4: TrackerDriver {
  let protocolDescription = "DualShock 4"
  let inputLength = 78

  private let axes: AxisMap
  private let bus: TrackerBus
  private(set) var calibration = PadCalibration()
  private var clock = DeviceClock(nanosecondsPerTick: 16_000.0 / 3, bits: 16)
  private var isPressed = false

  static func matches(_ node: HIDNode) -> Bool {
    node.vendorID == 0x054C && [0x05C4, 0x09CC, 0x0BA0].contains(node.productID)
  }

  init(bus: TrackerBus, axes: AxisMap? = nil) {
    self.bus = bus
    self.axes = axes ?? .rightUpBack
  }

  /// Reads the calibration. If this fails, `calibration` does not change; at first, it is nominal.
  mutating func start(_ link: some TrackerLink) throws(HeadTrackingError) {
    // Over Bluetooth, reading feature report 0x02 enables the long input reports. Feature report
    // 0x05 ends with a checksum.
    let byCable = try? link.feature(id: 0x02, length: 37)
    if bus == .bluetooth, let report = try? link.feature(id: 0x05, length: 41),
      PadChecksum.isRight(report, seed: 0xA3)
    {
      calibration = PadCalibration(report, order: .bySigns)
    } else if let report = byCable {
      calibration = PadCalibration(report, order: .bySigns)
    }
  }

  mutating func decode(_ report: [UInt8], arrival: Int64) -> [TrackerReading]? {
    let start: Int
    if report.count >= 64, report[0] == 0x01 {
      start = 0
    } else if report.count >= 78, report[0] == 0x11,
      PadChecksum.isRight(report[..<78], seed: 0xA1)
    {
      start = 2
    } else {
      return report.first == 0x01 && report.count < 64 && report.count >= 10 ? [] : nil
    }
    let time = clock.time(ticks: UInt64(report.u16(start + 10)), arrival: arrival)
    let sample = calibration.sample(
      gyro: report.vector(start + 13), accel: report.vector(start + 19), time: time, axes: axes)
    let wasPressed = isPressed
    isPressed = report[start + 7] & 1 != 0
    return (isPressed && !wasPressed ? [.recenterButton] : []) + [.inertial(sample)]
  }
}
