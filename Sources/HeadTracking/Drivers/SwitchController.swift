// SPDX-License-Identifier: Apache-2.0

/// Nintendo Switch Pro Controller (057e:2009), Joy-Con left and right (2006, 2007) and their
/// charging grip (200e).
///
/// Each report 0x30 contains three readings of a six-axis sensor, 5 ms apart. The pad has no usable
/// clock, so the driver smooths the arrival times. The Home button recentres; on the left Joy-Con,
/// the Capture button does. Sources: Linux 6.1, drivers/hid/hid-nintendo.c;
/// dekuNukem/Nintendo_Switch_Reverse_Engineering.
///
/// If the kernel's own driver (hid-nintendo) is in use, this driver sends nothing and uses nominal
/// scales. The report interval over Bluetooth is uncertain, so it is measured.
struct SwitchController: TrackerDriver {
  let protocolDescription: String
  private let axes: AxisMap
  private let bus: TrackerBus
  private let recenterMask: UInt8
  private(set) var calibration = SwitchCalibration()
  private var clock = SampleClock()
  private var times = ReadingTimes()
  private var counter: UInt8 = 0
  private var isPressed = false

  private static let vendor: UInt16 = 0x057E
  private static let left: UInt16 = 0x2006
  private static let right: UInt16 = 0x2007
  private static let names: [UInt16: String] = [
    0x2009: "Switch Pro Controller", left: "Joy-Con (L)", right: "Joy-Con (R)",
    0x200E: "Joy-Con Charging Grip",
  ]

  static func matches(_ node: HIDNode) -> Bool {
    node.vendorID == vendor && names[node.productID] != nil
  }

  init(productID: UInt16, bus: TrackerBus, axes: AxisMap? = nil) {
    protocolDescription = Self.names[productID] ?? "Switch controller"
    // The sensor of the right Joy-Con is mounted upside down.
    let turned = AxisMap(columns: SIMD3(0, 1, 2), signs: SIMD3(1, -1, -1))
    self.axes = axes ?? (productID == Self.right ? turned : .frontLeftUp)
    self.bus = bus
    recenterMask = productID == Self.left ? 0x20 : 0x10
  }

  mutating func decode(_ report: [UInt8], arrival: Int64) -> [TrackerReading]? {
    guard let id = report.first else { return nil }
    guard id == 0x30, report.count >= 49 else {
      // Replies contain no readings, and neither do the short reports before the sensor runs.
      return [0x21, 0x3F, 0x81].contains(id) && report.count >= 12 ? [] : nil
    }
    let newest = min(clock.stamp(arrival), arrival)
    let spacing = clock.interval > 0 ? min(5e6, clock.interval / 3) : 5e6
    let times = times.times(newest: newest, count: 3, spacing: Int64(spacing))
    var readings: [TrackerReading] = (0..<3).map { index in
      let start = 13 + 12 * index
      return .inertial(
        InertialSample(
          time: times[index],
          angularVelocity: axes.apply(calibration.rate(report.vector(start + 6))),
          specificForce: axes.apply(calibration.force(report.vector(start)))))
    }
    let wasPressed = isPressed
    isPressed = report[4] & recenterMask != 0
    if isPressed && !wasPressed { readings.append(.recenterButton) }
    return readings
  }
}

// MARK: Start

extension SwitchController {
  mutating func start(_ link: some TrackerLink) throws(HeadTrackingError) {
    clock = SampleClock()
    if link.kernelDriver == "nintendo" { return }
    if bus != .bluetooth { wakeCable(link) }
    // 0x40 enables the sensor; 0x03 selects report 0x30.
    try send(0x40, [0x01], link)
    _ = acknowledged(0x40, link)
    calibration = readCalibration(link)
    try send(0x03, [0x30], link)
    _ = acknowledged(0x03, link)
  }

  mutating func stop(_ link: some TrackerLink) {
    if link.kernelDriver == "nintendo" { return }
    try? send(0x40, [0x00], link)
  }

  /// Prepares a pad on USB: performs a handshake, sets the bit rate to 3 Mbit/s, performs another
  /// handshake and disables the timeout. Gives up if a write fails or the pad does not reply.
  private func wakeCable(_ link: some TrackerLink) {
    for command: UInt8 in [0x02, 0x03, 0x02, 0x04] {
      do { try link.write([0x80, command] + [UInt8](repeating: 0, count: 62)) } catch { return }
      guard command != 0x04 else { return }
      let answer = link.reply(withinMilliseconds: 100) { report in
        report.count >= 2 && report[0] == 0x81 && report[1] == command ? true : nil
      }
      if answer == nil { return }
    }
  }

  /// Sends a subcommand, with rumble data that keeps the motors at rest.
  private mutating func send(
    _ command: UInt8, _ data: [UInt8], _ link: some TrackerLink
  ) throws(HeadTrackingError) {
    counter = (counter + 1) & 0x0F
    let rest: [UInt8] = [0x00, 0x01, 0x40, 0x40, 0x00, 0x01, 0x40, 0x40]
    let report = [0x01, counter] + rest + [command] + data
    try link.write(report + [UInt8](repeating: 0, count: max(0, 49 - report.count)))
  }

  /// Returns the bytes that follow the subcommand's number in the reply; nil if there is no reply
  /// within 200 ms.
  private func acknowledged(_ command: UInt8, _ link: some TrackerLink) -> [UInt8]? {
    link.reply(withinMilliseconds: 200) { report in
      guard report.count >= 20, report[0] == 0x21, report[14] == command else { return nil }
      return Array(report[15...])
    }
  }

  /// Returns the user's calibration if it is valid, otherwise the factory's, otherwise the nominal
  /// one.
  private mutating func readCalibration(_ link: some TrackerLink) -> SwitchCalibration {
    if flash(0x8026, 2, link) == [0xB2, 0xA1], let data = flash(0x8028, 24, link),
      let calibration = SwitchCalibration(data)
    {
      return calibration
    }
    return flash(0x6020, 24, link).flatMap { SwitchCalibration($0) } ?? SwitchCalibration()
  }

  private mutating func flash(
    _ address: UInt32, _ length: UInt8, _ link: some TrackerLink
  ) -> [UInt8]? {
    let place = [UInt8].bytes(address) + [length]
    for _ in 0..<3 {
      do { try send(0x10, place, link) } catch { return nil }
      guard let answer = acknowledged(0x10, link), answer.count >= 5 + Int(length),
        Array(answer.prefix(5)) == place
      else { continue }
      return Array(answer[5..<5 + Int(length)])
    }
    return nil
  }
}

/// Offsets and scales of a Switch controller's sensor.
struct SwitchCalibration: Sendable, Equatable {
  var accelOrigin = SIMD3<Double>()
  /// The accelerometer's reading at 4 g, in raw counts.
  var accelScale = SIMD3<Double>(repeating: 16384)
  var gyroOffset = SIMD3<Double>()
  /// The gyroscope's reading at 936 degrees/s, in raw counts.
  var gyroScale = SIMD3<Double>(repeating: 13371)

  init() {}

  /// Decodes 24 bytes from the flash memory; nil if `data` is shorter or a scale is implausible.
  init?(_ data: [UInt8]) {
    guard data.count >= 24 else { return nil }
    accelOrigin = data.vector(0)
    accelScale = data.vector(6)
    gyroOffset = data.vector(12)
    gyroScale = data.vector(18)
    let accel = accelScale - accelOrigin
    let gyro = gyroScale - gyroOffset
    for axis in 0..<3 {
      guard (8192...32768).contains(accel[axis]), (6685...26742).contains(gyro[axis]) else {
        return nil
      }
    }
  }

  /// Returns the specific force in m/s2. Does not subtract the origin from the reading.
  func force(_ raw: SIMD3<Double>) -> SIMD3<Double> {
    raw * (4 * standardGravity) / (accelScale - accelOrigin)
  }

  /// Returns the angular velocity in rad/s.
  func rate(_ raw: SIMD3<Double>) -> SIMD3<Double> {
    (raw - gyroOffset) * (936 * radiansPerDegree) / (gyroScale - gyroOffset)
  }
}
