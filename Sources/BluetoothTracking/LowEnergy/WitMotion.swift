// SPDX-License-Identifier: Apache-2.0

import Geometry
import HeadTracking

/// The protocol of WitMotion's Bluetooth LE sensors (WT901BLE, WT9011DCL, BWT901BLE).
///
/// A frame is 20 bytes. It is either `55 61`, then the accelerometer, the gyroscope and the angles,
/// each as three i16; or `55 71`, then the number of a register (u16) and the values from this
/// register on. Frames have no checksum. A notification can contain several frames or a part of
/// one. The angles are not used, because they are singular at a pitch of 90 degrees. Sources: the
/// maker's example programs.
///
/// The axes are uncertain; by default, x right, y front, z up is assumed.
struct WitMotion: LowEnergyProtocol {
  static let notifications = "0000ffe4"
  private static let control = "0000ffe9"
  private static let service = "0000ffe5"
  private static let frameLength = 20
  private static let rateScale = 2000 / 32768 * radiansPerDegree
  private static let forceScale = 16 / 32768 * standardGravity
  /// The first of the quaternion's four registers. This program does not request them, but captures
  /// made with other programs can contain them.
  private static let quaternionRegister: UInt8 = 0x51

  private let axes: AxisMap
  /// The beginning of a frame that is not yet complete.
  private(set) var rest: [UInt8] = []
  private var isRaw = false
  private var arrivals = EvenArrivals()

  init(axes: AxisMap? = nil) { self.axes = axes ?? .rightFrontUp }

  static func matches(_ device: BluetoothDevice) -> Bool {
    if ["WT901BLE", "WT9011", "BWT901"].contains(where: device.name.hasPrefix) { return true }
    return device.name.hasPrefix("WT") && device.services.contains { $0.hasPrefix(service) }
  }

  /// Unlocks the settings and sets the rate to 100 Hz. The register that selects the contents of
  /// the frames is not written, because writing it makes some models stop sending.
  var startWrites: [GATTWrite] {
    [[0xFF, 0xAA, 0x69, 0x88, 0xB5], [0xFF, 0xAA, 0x03, 0x09, 0x00]].map {
      GATTWrite(characteristic: Self.control, bytes: $0, isAcknowledged: false)
    }
  }

  mutating func decode(_ notification: [UInt8], arrival: Int64) -> [TrackerReading]? {
    let bytes = rest + notification
    rest = []
    var readings: [TrackerReading] = []
    var (at, skipped) = (0, 0)
    while at < bytes.count {
      let isStart = bytes[at] == 0x55 && (at + 1 == bytes.count || Self.isKind(bytes[at + 1]))
      guard isStart else {
        (at, skipped) = (at + 1, skipped + 1)
        continue
      }
      guard at + Self.frameLength <= bytes.count else {
        rest = Array(bytes[at...])
        break
      }
      if let reading = reading(Array(bytes[at..<at + Self.frameLength]), arrival) {
        readings.append(reading)
      }
      at += Self.frameLength
    }
    return readings.isEmpty && skipped > 0 ? nil : readings
  }

  private static func isKind(_ byte: UInt8) -> Bool { byte == 0x61 || byte == 0x71 }

  private mutating func reading(_ frame: [UInt8], _ arrival: Int64) -> TrackerReading? {
    guard frame[1] == 0x61 else { return isRaw ? nil : orientation(frame, arrival) }
    isRaw = true
    return .inertial(
      InertialSample(
        time: arrivals.time(arrival), angularVelocity: axes.apply(frame.vector(8) * Self.rateScale),
        specificForce: axes.apply(frame.vector(2) * Self.forceScale)))
  }

  /// Decodes a `55 71` frame. Returns nil if the frame does not contain a valid quaternion.
  private mutating func orientation(_ frame: [UInt8], _ arrival: Int64) -> TrackerReading? {
    guard frame[2] == Self.quaternionRegister, let sensor = Self.quaternion(frame) else {
      return nil
    }
    let turn = axes.apply(SIMD3(sensor.x, sensor.y, sensor.z))
    let head = Quaternion(w: sensor.w, x: turn.x, y: turn.y, z: turn.z)
    guard abs(head.squaredNorm - 1) < 0.05 else { return nil }
    return .head(HeadSample(time: arrivals.time(arrival), headToWorld: head.normalized))
  }

  /// Returns the quaternion in a `55 71` frame, in the sensor's axes; nil if the frame is shorter
  /// than 12 bytes.
  static func quaternion(_ answer: [UInt8]) -> Quaternion? {
    guard answer.count >= 12 else { return nil }
    let turn = answer.vector(6) / 32768
    return Quaternion(w: Double(answer.i16(4)) / 32768, x: turn.x, y: turn.y, z: turn.z)
  }
}
