// SPDX-License-Identifier: Apache-2.0

import System

/// XREAL Air, Air 2, Air 2 Pro and Air 2 Ultra (3318:0424, 0428, 0432, 0426): glasses that report
/// raw samples of a nine-axis sensor at 1 kHz, with times in nanoseconds.
///
/// Commands and replies are frames with a checksum. The factory calibration is a JSON text that is
/// read in segments while the stream is off. Sources: badicsalex/ar-drivers-rs (MIT), Monado's
/// xreal_air driver.
///
/// Three things are uncertain: the signs of the calibration's biases (`biasSigns`), the
/// magnetometer's unit (assumed to be gauss) and the magnetometer's mounting. The checksum at the
/// end of a data report is not checked.
struct XREAL: TrackerDriver {
  let protocolDescription = "XREAL Air"
  private let isUltra: Bool
  private let axes: AxisMap
  private(set) var calibration = XREALCalibration()
  private var clock = DeviceClock(nanosecondsPerTick: 1)

  /// The head's axes in the sensor's raw axes: front is -y, left is x, up is z.
  static let nativeAxes = AxisMap(columns: SIMD3(1, 0, 2), signs: SIMD3(-1, 1, 1))
  /// The signs with which the calibration's biases are added to the readings, in the calibration's
  /// axes (x right, y up, z back).
  private static let biasSigns = SIMD3<Double>(-1, 1, 1)
  private static let ultra: UInt16 = 0x0426

  static func matches(_ node: HIDNode) -> Bool {
    guard node.vendorID == 0x3318, [0x0424, 0x0428, 0x0432, ultra].contains(node.productID) else {
      return false
    }
    return [-1, node.productID == ultra ? 2 : 3].contains(node.interface)
  }

  init(productID: UInt16, axes: AxisMap? = nil) {
    isUltra = productID == Self.ultra
    self.axes = axes ?? Self.nativeAxes
  }

  var inputLength: Int { isUltra ? 512 : 64 }
}

// MARK: Commands

extension XREAL {
  private enum Message: UInt8 {
    case calibrationLength = 0x14
    case calibrationSegment = 0x15
    case stream = 0x19
  }

  /// The largest calibration accepted, in bytes.
  private static let mostBytes = 1 << 17

  /// Reads the calibration and switches the stream on. If the calibration cannot be read, the
  /// previous one remains in use; the biases of the initial one are zero.
  ///
  /// - Throws: `featureFailed` if the glasses do not answer the first command, which switches the
  ///   stream off.
  mutating func start(_ link: some TrackerLink) throws(HeadTrackingError) {
    clock = DeviceClock(nanosecondsPerTick: 1)
    guard ask(.stream, [0], link) != nil else {
      throw .featureFailed(report: Int(Message.stream.rawValue), reason: "no answer")
    }
    if let text = readCalibration(link), let found = XREALCalibration(text) { calibration = found }
    _ = ask(.stream, [1], link)
  }

  mutating func stop(_ link: some TrackerLink) {
    try? link.write(Self.frame(Message.stream.rawValue, [0]))
  }

  private func readCalibration(_ link: some TrackerLink) -> [UInt8]? {
    guard let answer = ask(.calibrationLength, [], link), answer.count >= 4 else { return nil }
    let length = Int(answer.u32(0))
    guard (1...Self.mostBytes).contains(length) else { return nil }
    var text: [UInt8] = []
    while text.count < length {
      guard let part = ask(.calibrationSegment, [], link), !part.isEmpty else { return nil }
      text += part
    }
    return Array(text.prefix(length))
  }

  private func ask(_ message: Message, _ data: [UInt8], _ link: some TrackerLink) -> [UInt8]? {
    do { try link.write(Self.frame(message.rawValue, data)) } catch { return nil }
    return link.reply(withinMilliseconds: 500, length: inputLength) { report in
      Self.answer(report, to: message.rawValue)
    }
  }

  /// Builds the frame of a command: start byte, checksum, length, message and data, padded to 64
  /// bytes. The length is that of the length field, the message and the data. The checksum covers
  /// the same bytes.
  static func frame(_ message: UInt8, _ data: [UInt8]) -> [UInt8] {
    let body = [UInt8].bytes(UInt16(3 + data.count)) + [message] + data
    let frame = [0xAA] + [UInt8].bytes(CRC32.of(body)) + body
    return frame + [UInt8](repeating: 0, count: max(0, 64 - frame.count))
  }

  /// Returns the data in a reply to a message; nil if the reply is damaged, or if the report is not
  /// a reply to that message.
  static func answer(_ report: [UInt8], to message: UInt8) -> [UInt8]? {
    guard report.count >= 8, report[0] == 0xAA, report[7] == message else { return nil }
    let length = Int(report.u16(5))
    guard length >= 3, 5 + length <= report.count,
      CRC32.of(report[5..<5 + length]) == report.u32(1)
    else { return nil }
    return Array(report[8..<5 + length])
  }
}

// MARK: Reports

extension XREAL {
  mutating func decode(_ report: [UInt8], arrival: Int64) -> [TrackerReading]? {
    guard report.count >= 64 else { return nil }
    if report[0] == 0xAA || (report[0], report[1]) == (1, 0xAA) { return [] }
    guard (report[0], report[1]) == (1, 2) else { return nil }
    let gyroDivisor = Double(report.u32(14))
    let accelDivisor = Double(report.u32(29))
    guard gyroDivisor > 0, accelDivisor > 0 else { return nil }
    let gyroScale = Double(report.u16(12)) / gyroDivisor * radiansPerDegree
    let accelScale = Double(report.u16(27)) / accelDivisor * standardGravity
    let time = clock.time(ticks: report.u64(4), arrival: arrival)
    let rate = report.vector24(18) * gyroScale + raw(calibration.gyroBias)
    let force = report.vector24(33) * accelScale + raw(calibration.accelBias)
    return [
      .inertial(
        InertialSample(
          time: time, angularVelocity: axes.apply(rate), specificForce: axes.apply(force),
          magneticField: field(report).map(axes.apply)))
    ]
  }

  /// Applies `biasSigns` to a bias from the calibration, and converts the bias to the sensor's raw
  /// axes.
  private func raw(_ bias: SIMD3<Double>) -> SIMD3<Double> {
    let turned = bias * Self.biasSigns
    return SIMD3(-turned.x, turned.z, turned.y)
  }

  /// Returns the magnetic field in microtesla; nil if the scale is invalid. In the report, the
  /// scale is big-endian, and the values are in offset binary.
  private func field(_ report: [UInt8]) -> SIMD3<Double>? {
    let factor = Double(report.u16(42).byteSwapped)
    let divisor = Double(report.u32(44).byteSwapped)
    guard factor > 0, divisor > 0 else { return nil }
    let counts = (0..<3).map { Double(Int16(bitPattern: report.u16(48 + 2 * $0) ^ 0x8000)) }
    return SIMD3(counts[0], counts[1], counts[2]) * (factor / divisor * 100)
  }
}
