// SPDX-License-Identifier: Apache-2.0

import Geometry

/// RayNeo Air 3, 3s, 3s Pro, 4 and 4 Pro (1bbb:af50), and GT (3941:af50): glasses that report raw
/// samples of a six-axis sensor, with times in ticks of 0.1 ms.
///
/// Older glasses with the same USB IDs have another report layout. The driver therefore asks for
/// the number of the board first, and refuses unknown boards. Sources:
/// verncat/RayNeo-Air-3S-Pro-OpenVR, taowen/ar-glass-lib.
///
/// The axes are uncertain. For the Air 4, the driver assumes x right, y up, z back, as one source
/// states; for all other boards, x right, y back, z down. The magnetometer is not used. Of the
/// factory calibration, only the matrix is used: the sources do not agree on the meaning of the
/// vector that follows it.
struct RayNeo: TrackerDriver {
  let protocolDescription = "RayNeo Air"
  private let chosenAxes: AxisMap?
  private var axes: AxisMap
  private var matrix = RayNeo.identity
  private var clock = RayNeo.newClock

  /// The head's axes in the sensor's axes: front is -y, left is -x, up is -z.
  static let usualAxes = AxisMap(columns: SIMD3(1, 0, 2), signs: SIMD3(-1, -1, -1))
  /// The boards with the known report layout.
  private static let boards: Set<UInt8> = [0x35, 0x36, 0x37, 0x39, 0x3A, 0x40, 0x41]
  private static let air4: UInt8 = 0x39
  private static let identity = [SIMD3<Double>(1, 0, 0), SIMD3(0, 1, 0), SIMD3(0, 0, 1)]
  private static let newClock = DeviceClock(nanosecondsPerTick: 100_000, bits: 32)

  private enum Command: UInt8 {
    case information = 0x00
    case streamOn = 0x01
    case streamOff = 0x02
    case calibration = 0x3C
  }

  static func matches(_ node: HIDNode) -> Bool {
    guard node.productID == 0xAF50 else { return false }
    switch node.vendorID {
    case 0x1BBB: return [-1, 0].contains(node.interface)
    case 0x3941: return [-1, 5].contains(node.interface)
    default: return false
    }
  }

  init(axes: AxisMap? = nil) {
    chosenAxes = axes
    self.axes = axes ?? Self.usualAxes
  }
}

// MARK: Commands

extension RayNeo {
  /// Asks for the number of the board and the factory calibration, and then switches the stream on.
  mutating func start(_ link: some TrackerLink) throws(HeadTrackingError) {
    clock = Self.newClock
    guard let information = ask(.information, link) else {
      throw .featureFailed(report: Int(Command.information.rawValue), reason: "no answer")
    }
    let board = information[21]
    guard Self.boards.contains(board) else {
      throw .featureFailed(
        report: Int(Command.information.rawValue),
        reason: "the board 0x\(String(board, radix: 16)) of these RayNeo glasses is not supported")
    }
    axes = chosenAxes ?? (board == Self.air4 ? .rightUpBack : Self.usualAxes)
    matrix = ask(.calibration, link).flatMap(Self.matrix) ?? Self.identity
    try link.write(Self.frame(Command.streamOn.rawValue))
  }

  mutating func stop(_ link: some TrackerLink) {
    try? link.write(Self.frame(Command.streamOff.rawValue))
  }

  private func ask(_ command: Command, _ link: some TrackerLink) -> [UInt8]? {
    do { try link.write(Self.frame(command.rawValue)) } catch { return nil }
    return link.reply(withinMilliseconds: 500) { report in
      Self.isAnswer(report, to: command.rawValue) ? report : nil
    }
  }

  /// Builds a command of 64 bytes. Because its first byte is not 0, the kernel sends all 64 bytes,
  /// whether or not the device numbers its reports.
  static func frame(_ command: UInt8) -> [UInt8] {
    [0x66, command] + [UInt8](repeating: 0, count: 62)
  }

  private static func isAnswer(_ report: [UInt8], to command: UInt8) -> Bool {
    report.count >= 64 && report[0] == 0x99 && report[1] == 0xC8 && report[8] == command
  }

  /// Returns the columns of the calibration matrix; nil if the answer contains none, or if an
  /// element differs by 0.2 or more from that of the identity matrix.
  private static func matrix(_ answer: [UInt8]) -> [SIMD3<Double>]? {
    guard answer[9] != 0xFF else { return nil }
    let columns = (0..<3).map { answer.floats(9 + 12 * $0) }
    let isPlausible = zip(columns, identity).allSatisfy { found, usual in
      (0..<3).allSatisfy { abs(found[$0] - usual[$0]) < 0.2 }
    }
    return isPlausible ? columns : nil
  }
}

// MARK: Reports

extension RayNeo {
  mutating func decode(_ report: [UInt8], arrival: Int64) -> [TrackerReading]? {
    guard report.count >= 64, report[0] == 0x99 else { return nil }
    guard report[1] == 0x65 else { return [] }
    let force = corrected(report.floats(4))
    let rate = corrected(report.floats(16) * radiansPerDegree)
    guard force.isReasonable, rate.isReasonable else { return nil }
    let time = clock.time(ticks: UInt64(report.u32(40)), arrival: arrival)
    return [
      .inertial(
        InertialSample(
          time: time, angularVelocity: axes.apply(rate), specificForce: axes.apply(force)))
    ]
  }

  private func corrected(_ v: SIMD3<Double>) -> SIMD3<Double> {
    matrix[0] * v.x + matrix[1] * v.y + matrix[2] * v.z
  }
}
