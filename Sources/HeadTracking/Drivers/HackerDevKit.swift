// SPDX-License-Identifier: Apache-2.0

import Geometry

/// OSVR Hacker Dev Kit (1532:0b00), which computes its orientation itself.
///
/// The reported quaternion is the orientation of the sensor (x right, y front, z up), which is
/// rotated by 90 degrees in the headset. Source: Monado, src/xrt/drivers/hdk (BSL-1.0).
///
/// It is uncertain whether the angular velocity is in the sensor's frame, as assumed here.
struct HackerDevKit: TrackerDriver {
  let protocolDescription = "OSVR HDK"
  let inputLength = 64
  private let axes: AxisMap

  /// The head's orientation in the sensor's frame: pitched up by 90 degrees.
  private static let mounting = Quaternion(rotationVector: SIMD3(0, -Double.pi / 2, 0))

  static func matches(_ node: HIDNode) -> Bool {
    node.vendorID == 0x1532 && node.productID == 0x0B00
  }

  init(axes: AxisMap? = nil) { self.axes = axes ?? .rightFrontUp }

  mutating func start(_ link: some TrackerLink) throws(HeadTrackingError) {}

  mutating func decode(_ report: [UInt8], arrival: Int64) -> [TrackerReading]? {
    guard report.count == 16 || report.count == 32, [1, 2, 3].contains(report[0] & 0x0F) else {
      return nil
    }
    let turn = axes.apply(report.vector(2) / 16384)
    let sensor = Quaternion(w: Double(report.i16(8)) / 16384, x: turn.x, y: turn.y, z: turn.z)
    guard abs(sensor.squaredNorm - 1) < 0.05 else { return nil }
    let rate = axes.apply(report.vector(10) / 512)
    return [
      .head(
        HeadSample(
          time: arrival, headToWorld: sensor.normalized * Self.mounting,
          angularVelocity: rate == .zero ? nil : Self.mounting.conjugate.rotate(rate)))
    ]
  }
}
