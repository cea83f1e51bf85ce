// SPDX-License-Identifier: Apache-2.0

import System

/// PlayStation VR, first generation (054c:09af): a six-axis sensor at 2 kHz, with two readings per
/// report.
///
/// The sensor has its own USB interface. A second interface, the control interface, sets the power
/// and the VR mode. Reports list the axes as y, x, -z, where x is right, y up and z back. Sources:
/// OpenHMD/OpenHMD, src/drv_psvr; Monado, src/xrt/drivers/psvr.
///
/// The axes are uncertain, and so is the scale of the rates (0.00105 rad/s per count, from a fit by
/// Monado). The headset's own calibration is not read.
struct PlayStationVR: TrackerDriver {
  let protocolDescription = "PlayStation VR"
  private let axes: AxisMap
  private let control: HIDNode?
  private var clock = DeviceClock(nanosecondsPerTick: 1000, bits: 24)
  private var times = ReadingTimes()

  static let sensorInterface = 4
  static let controlInterface = 5
  private static let rateScale = 0.00105
  private static let forceScale = standardGravity / 16384
  private static let powerOn: [UInt8] = [0x17, 0x00, 0xAA, 0x04, 0x01, 0x00, 0x00, 0x00]
  private static let mode: [UInt8] = [0x23, 0x00, 0xAA, 0x04, 0x01, 0x00, 0x00, 0x00]

  static func isHeadset(_ node: HIDNode) -> Bool {
    node.vendorID == 0x054C && node.productID == 0x09AF
  }

  static func matches(_ node: HIDNode) -> Bool {
    isHeadset(node) && node.interface == sensorInterface
  }

  /// Searches `nodes` for the control interface of the same headset.
  init(_ node: HIDNode, among nodes: [HIDNode], axes: AxisMap? = nil) {
    control = nodes.first {
      Self.isHeadset($0) && $0.interface == Self.controlInterface && $0.serial == node.serial
    }
    self.axes = axes ?? .rightUpBack
  }

  /// Switches the headset on and into VR mode through the control interface, if there is one.
  mutating func start(_ link: some TrackerLink) throws(HeadTrackingError) {
    clock = DeviceClock(nanosecondsPerTick: 1000, bits: 24)
    guard let control else { return }
    let switches: HIDDevice
    do throws(SystemError) {
      switches = try HIDDevice(control)
    } catch {
      throw .cannotOpen(path: control.path, reason: error.description)
    }
    try switches.write(Self.powerOn)
    try switches.write(Self.mode)
  }

  mutating func decode(_ report: [UInt8], arrival: Int64) -> [TrackerReading]? {
    guard report.count == 64 else { return nil }
    // Both timestamps are from the same clock. The second reading is the newer one.
    let first = report.u32(16) & 0xFF_FFFF
    let second = report.u32(32) & 0xFF_FFFF
    let newest = clock.time(ticks: UInt64(second), arrival: arrival)
    let gap = (second &- first) & 0xFF_FFFF
    let spacing = (1...10_000).contains(gap) ? Int64(gap) * 1000 : 500_000
    let times = times.times(newest: newest, count: 2, spacing: spacing)
    return [
      .inertial(sample(report, 20, times[0])), .inertial(sample(report, 36, times[1])),
    ]
  }

  private func sample(_ report: [UInt8], _ at: Int, _ time: Int64) -> InertialSample {
    InertialSample(
      time: time, angularVelocity: axes.apply(Self.turned(report.vector(at)) * Self.rateScale),
      specificForce: axes.apply(Self.turned(report.vector(at + 6)) * Self.forceScale))
  }

  /// Converts a vector from the order of the report (y, x, -z) to x, y, z.
  private static func turned(_ v: SIMD3<Double>) -> SIMD3<Double> { SIMD3(v.y, v.x, -v.z) }
}
