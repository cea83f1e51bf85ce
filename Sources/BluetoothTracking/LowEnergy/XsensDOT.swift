// SPDX-License-Identifier: Apache-2.0

import Geometry
import HeadTracking

/// The protocol of Movella DOT and Xsens DOT, which compute their orientation themselves and
/// send it at 60 Hz by default.
///
/// A notification contains a time in microseconds (u32), a quaternion from the sensor to a world
/// whose z axis points up (four f32, w first) and, in the mode "custom 3", the angular velocity
/// (three f32, degrees/s). Source: the maker's "Movella DOT BLE Services Specifications".
///
/// It is uncertain how the sensor is worn; by default, x front, y left, z up is assumed.
struct XsensDOT: LowEnergyProtocol {
  static let notifications = uuid("2003")
  private static let control = uuid("2001")
  /// The mode "custom 3".
  private static let mode: UInt8 = 0x18

  private let axes: AxisMap
  private var clock = DeviceClock(nanosecondsPerTick: 1000, bits: 32)

  init(axes: AxisMap? = nil) { self.axes = axes ?? .frontLeftUp }

  private static func uuid(_ number: String) -> String {
    "1517\(number)-4947-11e9-8646-d663bd873d93"
  }

  static func matches(_ device: BluetoothDevice) -> Bool {
    device.services.contains(uuid("2000")) || device.name.hasPrefix("Movella DOT")
      || device.name.hasPrefix("Xsens DOT")
  }

  var startWrites: [GATTWrite] {
    [GATTWrite(characteristic: Self.control, bytes: [1, 1, Self.mode])]
  }

  var stopWrites: [GATTWrite] {
    [GATTWrite(characteristic: Self.control, bytes: [1, 0, Self.mode])]
  }

  mutating func decode(_ notification: [UInt8], arrival: Int64) -> [TrackerReading]? {
    guard notification.count >= 20 else { return nil }
    let turn = axes.apply(notification.floats(8))
    let sensor = Quaternion(w: notification.f32(4), x: turn.x, y: turn.y, z: turn.z)
    guard abs(sensor.squaredNorm - 1) < 0.05 else { return nil }
    var rate: SIMD3<Double>?
    if notification.count >= 32 {
      let found = notification.floats(20) * radiansPerDegree
      guard found.isReasonable else { return nil }
      rate = axes.apply(found)
    }
    let time = clock.time(ticks: UInt64(notification.u32(0)), arrival: arrival)
    return [
      .head(HeadSample(time: time, headToWorld: sensor.normalized, angularVelocity: rate))
    ]
  }
}
