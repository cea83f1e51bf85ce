// SPDX-License-Identifier: Apache-2.0

import Geometry
import System

/// VITURE One (35ca:1011, 1013, 1017), One Lite (1015, 101b) and Pro (1019, 101d), which compute
/// their orientation themselves.
///
/// Interface 0 sends the data; interface 1 takes the commands. Sources:
/// mgschwan/viture_virtual_display, wheaney/XRLinuxDriver, BlueKittyMeow/viture-utilities.
///
/// The sign of the yaw is uncertain. So is the tilt of the sensor, which is from XRLinuxDriver.
/// Older firmware reports angles instead of a quaternion.
struct VITUREPose: TrackerDriver {
  let protocolDescription = "VITURE pose"
  private let axes: AxisMap
  private let control: HIDNode?
  private let mounting: Quaternion
  private var arrivals = EvenArrivals()

  /// The angle by which the sensor is tilted upwards in the glasses, in degrees, by product ID.
  private static let tilts: [UInt16: Double] = [
    0x1011: 6, 0x1013: 6, 0x1017: 6, 0x1015: 6, 0x101B: 6, 0x1019: 3, 0x101D: 3,
  ]
  private static let streamCommand: UInt16 = 0x15

  static func matches(_ node: HIDNode) -> Bool {
    isGlasses(node) && [-1, 0].contains(node.interface)
  }

  private static func isGlasses(_ node: HIDNode) -> Bool {
    node.vendorID == 0x35CA && tilts[node.productID] != nil
  }

  /// Creates the driver, and searches `nodes` for the interface that takes the commands. If there
  /// is none, commands go to `node`.
  init(_ node: HIDNode, among nodes: [HIDNode], axes: AxisMap? = nil) {
    control = nodes.first {
      Self.isGlasses($0) && $0.interface == 1 && $0.productID == node.productID
        && $0.serial == node.serial
    }
    self.axes = axes ?? .frontLeftUp
    let tilt = (Self.tilts[node.productID] ?? 0) * radiansPerDegree
    mounting = Quaternion(rotationVector: SIMD3(0, tilt, 0))
  }
}

// MARK: Commands

extension VITUREPose {
  mutating func start(_ link: some TrackerLink) throws(HeadTrackingError) {
    arrivals = EvenArrivals()
    try send(Self.command(Self.streamCommand, [1]), link)
  }

  mutating func stop(_ link: some TrackerLink) {
    try? send(Self.command(Self.streamCommand, [0]), link)
  }

  private func send(_ frame: [UInt8], _ link: some TrackerLink) throws(HeadTrackingError) {
    guard let control else { return try link.write(frame) }
    let device: HIDDevice
    do throws(SystemError) {
      device = try HIDDevice(control)
    } catch {
      throw .cannotOpen(path: control.path, reason: error.description)
    }
    try device.write(frame)
  }

  /// Builds a command: `FF FE`, checksum, length, 8 zeros, command, 2 zeros and data, padded to 64
  /// bytes. The checksum covers the bytes from the length to the end of the data.
  static func command(_ command: UInt16, _ data: [UInt8]) -> [UInt8] {
    let zeros = [UInt8](repeating: 0, count: 8)
    let body =
      [UInt8].bytes(UInt16(12 + data.count)) + zeros + [UInt8].bytes(command) + [0, 0] + data
    let frame = [0xFF, 0xFE] + [UInt8].bytes(CRC16XMODEM.of(body[...])) + body
    return frame + [UInt8](repeating: 0, count: max(0, 64 - frame.count))
  }
}

// MARK: Reports

extension VITUREPose {
  mutating func decode(_ report: [UInt8], arrival: Int64) -> [TrackerReading]? {
    guard report.count >= 18, report[0] == 0xFF else { return nil }
    guard report[1] == 0xFC else { return [] }
    let length = Int(report.u16(4))
    // The checksum is ignored: no source verifies it, so it is uncertain which bytes it covers.
    guard length >= 24, 6 + length <= report.count,
      let sensor = length >= 48 ? quaternion(report) : angles(report)
    else { return nil }
    return [.head(HeadSample(time: arrivals.time(arrival), headToWorld: sensor * mounting))]
  }

  private func quaternion(_ report: [UInt8]) -> Quaternion? {
    let turn = axes.apply(SIMD3(report.f32be(42), report.f32be(46), report.f32be(50)))
    let sensor = Quaternion(w: report.f32be(38), x: turn.x, y: turn.y, z: turn.z)
    return abs(sensor.squaredNorm - 1) < 0.05 ? sensor.normalized : nil
  }

  /// Returns the orientation from roll, pitch and yaw: yaw about z, then roll about the new x, then
  /// pitch about the new y. Returns nil if an angle is not between -720 and 720 degrees.
  private func angles(_ report: [UInt8]) -> Quaternion? {
    let angles = SIMD3(report.f32be(18), report.f32be(22), report.f32be(26))
    guard (0..<3).allSatisfy({ abs(angles[$0]) <= 720 }) else { return nil }
    let turns = angles * radiansPerDegree
    func turn(_ axis: SIMD3<Double>) -> Quaternion {
      Quaternion(rotationVector: axes.apply(axis))
    }
    return turn(SIMD3(0, 0, turns.z)) * turn(SIMD3(turns.x, 0, 0)) * turn(SIMD3(0, turns.y, 0))
  }
}

/// CRC-16/XMODEM: polynomial 0x1021, initial value 0.
enum CRC16XMODEM {
  static func of(_ bytes: ArraySlice<UInt8>) -> UInt16 {
    var sum: UInt16 = 0
    for byte in bytes {
      sum ^= UInt16(byte) << 8
      for _ in 0..<8 { sum = sum & 0x8000 != 0 ? sum << 1 ^ 0x1021 : sum << 1 }
    }
    return sum
  }
}
