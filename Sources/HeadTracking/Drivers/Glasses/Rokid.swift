// SPDX-License-Identifier: Apache-2.0

/// Rokid Air and Max (04d2:162b to 162f, 2180): glasses that send raw samples of a nine-axis
/// sensor without a start command.
///
/// Axes: x right, y up, z back. Sources: badicsalex/ar-drivers-rs, src/rokid.rs;
/// taowen/ar-glass-lib.
///
/// It is uncertain whether the kernel gives the glasses a hidraw node; both sources use libusb. The
/// magnetometer is not used, because its unit and axes are unknown.
struct Rokid: TrackerDriver {
  let protocolDescription = "Rokid Air"
  private let axes: AxisMap
  private var clock = DeviceClock(nanosecondsPerTick: 1)
  /// The latest specific force and angular velocity that have not yet formed a sample.
  private var force: (time: UInt64, value: SIMD3<Double>)?
  private var rate: (time: UInt64, value: SIMD3<Double>)?

  static func matches(_ node: HIDNode) -> Bool {
    node.vendorID == 0x04D2
      && ((0x162B...0x162F).contains(node.productID) || node.productID == 0x2180)
  }

  init(axes: AxisMap? = nil) { self.axes = axes ?? .rightUpBack }

  mutating func start(_ link: some TrackerLink) throws(HeadTrackingError) {
    clock = DeviceClock(nanosecondsPerTick: 1)
    (force, rate) = (nil, nil)
  }

  mutating func decode(_ report: [UInt8], arrival: Int64) -> [TrackerReading]? {
    switch report.first {
    case 0x11 where report.count >= 47:
      return reading(report.u64(1), report.floats(9), report.floats(21), arrival)
    case 0x04 where report.count >= 33: return part(report, arrival)
    case 0x02: return []
    default: return nil
    }
  }

  /// Decodes a report with the values of only one of the three sensors. The angular velocity and
  /// the specific force of a sample come in two reports with the same time. Returns an empty list
  /// until both have arrived.
  private mutating func part(_ report: [UInt8], _ arrival: Int64) -> [TrackerReading]? {
    let (time, value) = (report.u64(9), report.floats(21))
    switch report[1] {
    case 1: force = (time, value)
    case 2: rate = (time, value)
    case 3: return []
    default: return nil
    }
    guard let force, let rate, force.time == rate.time else { return [] }
    (self.force, self.rate) = (nil, nil)
    return reading(time &* 1000, force.value, rate.value, arrival)
  }

  private mutating func reading(
    _ nanoseconds: UInt64, _ force: SIMD3<Double>, _ rate: SIMD3<Double>, _ arrival: Int64
  ) -> [TrackerReading]? {
    guard force.isReasonable, rate.isReasonable else { return nil }
    let time = clock.time(ticks: nanoseconds, arrival: arrival)
    return [
      .inertial(
        InertialSample(
          time: time, angularVelocity: axes.apply(rate), specificForce: axes.apply(force)))
    ]
  }
}

/// Rokid Max 2 (04d2:2002): glasses whose interface 2 sends batches of raw samples of 64 bytes
/// each.
///
/// Source: taowen/ar-glass-lib, after xelsed/rokidmaxwmdapi. Everything is uncertain, because the
/// only source was not tested. A specific force below 3 is assumed to be in g, a larger one in
/// m/s2.
struct RokidMax2: TrackerDriver {
  let protocolDescription = "Rokid Max 2"
  let inputLength = 1024
  private let axes: AxisMap
  private var clock = DeviceClock(nanosecondsPerTick: 1000, bits: 56)

  private static let sampleLength = 64

  static func matches(_ node: HIDNode) -> Bool {
    node.vendorID == 0x04D2 && node.productID == 0x2002 && [-1, 2].contains(node.interface)
  }

  init(axes: AxisMap? = nil) { self.axes = axes ?? .rightUpBack }

  mutating func start(_ link: some TrackerLink) throws(HeadTrackingError) {
    clock = DeviceClock(nanosecondsPerTick: 1000, bits: 56)
  }

  mutating func decode(_ report: [UInt8], arrival: Int64) -> [TrackerReading]? {
    guard report.count >= Self.sampleLength else { return nil }
    var readings: [TrackerReading] = []
    for start in stride(
      from: 0, through: report.count - Self.sampleLength, by: Self.sampleLength)
    where report[start] == 0x11 {
      var force = report.floats(start + 12)
      let rate = report.floats(start + 24) * radiansPerDegree
      guard force.isReasonable, rate.isReasonable else { continue }
      if (force * force).sum() < 9 { force *= standardGravity }
      let ticks = report.u64(start) >> 8
      readings.append(
        .inertial(
          InertialSample(
            time: clock.time(ticks: ticks, arrival: arrival), angularVelocity: axes.apply(rate),
            specificForce: axes.apply(force))))
    }
    return readings.isEmpty && report[0] == 0x11 ? nil : readings
  }
}
