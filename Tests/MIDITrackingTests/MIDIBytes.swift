// SPDX-License-Identifier: Apache-2.0

import Geometry
import HeadTracking

@testable import MIDITracking

/// Returns the bytes of a hexadecimal text with blanks.
func hex(_ text: String) -> [UInt8] {
  text.split(separator: " ").compactMap { UInt8($0, radix: 16) }
}

extension [TrackerReading] {
  /// The orientations, oldest first.
  var heads: [Quaternion] {
    compactMap { if case .head(let sample) = $0 { sample.headToWorld } else { nil } }
  }
}

/// A head that looks around, at a time in seconds.
func lookingAround(_ t: Double) -> Quaternion {
  YawPitchRoll(
    yaw: 60 * sine(0.2 * t), pitch: 25 * sine(0.31 * t), roll: 15 * sine(0.23 * t)
  ).quaternion
}

/// Returns the sine of a number of turns.
private func sine(_ turns: Double) -> Double {
  let quarter = YawPitchRoll(yaw: 360 * turns).quaternion
  return 2 * quarter.w * quarter.z
}

/// Messages as the Supperware Head Tracker sends them.
enum SupperwareMessages {
  static func numbers(_ kind: UInt8, _ values: [Double]) -> [UInt8] {
    let data = values.flatMap { value in
      let bits = Int((value * 2048).rounded()) & 0x3FFF
      return [UInt8(bits >> 7), UInt8(bits & 127)]
    }
    return [0xF0, 0x00, 0x21, 0x42, 0x40, kind] + data + [0xF7]
  }

  /// Returns the message for a head; the sensor's axes are x right, y front, z up.
  static func quaternion(_ head: Quaternion) -> [UInt8] {
    numbers(1, [head.w, -head.y, head.x, head.z])
  }

  static func angles(_ angles: YawPitchRoll) -> [UInt8] {
    numbers(0, [angles.yaw, angles.pitch, angles.roll].map { $0 / degreesPerRadian })
  }

  static func matrix(_ head: Quaternion) -> [UInt8] {
    let sensor = Quaternion(w: head.w, x: -head.y, y: head.x, z: head.z)
    let columns = [SIMD3<Double>(1, 0, 0), SIMD3(0, 1, 0), SIMD3(0, 0, 1)].map(sensor.rotate)
    return numbers(2, (0..<3).flatMap { row in columns.map { $0[row] } })
  }
}

/// Messages as MrHeadTracker sends them: pairs of control changes for the numbers that changed.
struct MrHeadTrackerMessages {
  enum Form: CaseIterable {
    case quaternion
    case anglesDirect
    case anglesInverse
  }

  let form: Form
  var isInverse: Bool { form == .anglesInverse }
  private var last: [Int] = []

  init(_ form: Form) { self.form = form }

  /// Returns the bytes for a head; empty if no number has changed.
  mutating func bytes(_ head: Quaternion) -> [UInt8] {
    let numbers: [Int]
    switch form {
    case .quaternion:
      numbers = [head.w, head.x, head.y, head.z].map { (part: Double) -> Int in
        Int(((part + 1) * 8191).rounded())
      }
    case .anglesDirect, .anglesInverse:
      let angles = YawPitchRoll(form == .anglesInverse ? head.conjugate : head)
      // Right-handed about z, y and x.
      numbers = [angles.yaw, -angles.pitch, angles.roll].map { (angle: Double) -> Int in
        min(16383, Int(((angle / 360 + 0.5) * 16384).rounded()))
      }
    }
    defer { last = numbers }
    return numbers.indices.filter { last.isEmpty || numbers[$0] != last[$0] }.flatMap { at in
      let number = numbers[at]
      return [
        0xB0, UInt8(48 + at), UInt8(number & 127), 0xB0, UInt8(16 + at), UInt8(number >> 7),
      ]
    }
  }
}
