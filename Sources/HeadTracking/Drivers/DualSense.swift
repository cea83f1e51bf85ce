// SPDX-License-Identifier: Apache-2.0

/// Sony DualSense and DualSense Edge (054c:0ce6, 0df2), by cable and by Bluetooth.
///
/// The pad has a six-axis sensor at 250 Hz, with a clock tick of 1/3 us. Over Bluetooth, the pad
/// sends sensor data only after its calibration has been read. The PS button recentres. Source:
/// Linux 6.1, drivers/hid/hid-playstation.c.
///
/// The sampling rate over Bluetooth is uncertain, and so are the signs of the angular velocity. The
/// assumed axes are x right, y up (out of the top side) and z towards the player; rotations are
/// assumed to be right-handed.
struct DualSense: TrackerDriver {
  let protocolDescription = "DualSense"
  let inputLength = 78

  private let axes: AxisMap
  private(set) var calibration = PadCalibration()
  private var clock = DeviceClock(nanosecondsPerTick: 1000.0 / 3, bits: 32)
  private var isPressed = false

  static func matches(_ node: HIDNode) -> Bool {
    node.vendorID == 0x054C && [0x0CE6, 0x0DF2].contains(node.productID)
  }

  init(axes: AxisMap? = nil) { self.axes = axes ?? .rightUpBack }

  /// Reads the calibration. If this fails, `calibration` does not change; at first, it is nominal.
  mutating func start(_ link: some TrackerLink) throws(HeadTrackingError) {
    guard let report = try? link.feature(id: 0x05, length: 41) else { return }
    calibration = PadCalibration(report, order: .pairs)
  }

  mutating func decode(_ report: [UInt8], arrival: Int64) -> [TrackerReading]? {
    let start: Int
    if report.count >= 64, report[0] == 0x01 {
      start = 0
    } else if report.count >= 78, report[0] == 0x31,
      PadChecksum.isRight(report[..<78], seed: 0xA1)
    {
      start = 1
    } else {
      // Reports with one of these IDs and fewer than 64 bytes are valid but contain no motion data.
      return [0x01, 0x31].contains(report.first) && report.count != 78 && report.count < 64
        ? [] : nil
    }
    let time = clock.time(ticks: UInt64(report.u32(start + 28)), arrival: arrival)
    let sample = calibration.sample(
      gyro: report.vector(start + 16), accel: report.vector(start + 22), time: time, axes: axes)
    let wasPressed = isPressed
    isPressed = report[start + 10] & 1 != 0
    return (isPressed && !wasPressed ? [.recenterButton] : []) + [.inertial(sample)]
  }
}
