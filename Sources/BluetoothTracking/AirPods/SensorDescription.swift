// SPDX-License-Identifier: Apache-2.0

import Geometry

/// Finds values in the serialised properties of a sensor service, by the text of their keys.
enum SensorDescription {
  /// Whether the properties belong to the motion service `devmotion6`.
  static func isMotion(_ properties: ArraySlice<UInt8>) -> Bool {
    guard let key = properties.end(of: "AccessoryService") else { return false }
    return properties[key...].prefix(24).end(of: "devmotion6") != nil
  }

  /// Returns the rotation from the sensor's axes to the headset's axes (x right, y back, z down).
  /// The property `H2HTransformation` contains it as x, y, z and w, each an i16 in units of
  /// 1/32767. Returns nil if the property is missing or incomplete, or is not a unit quaternion.
  static func mounting(_ properties: ArraySlice<UInt8>) -> Quaternion? {
    guard let key = properties.end(of: "H2HTransformation"),
      // These bytes precede the quaternion: its length in bytes, 8, and the type 0x0A.
      let data = properties[key...].prefix(16).end(of: [8, 0, 0, 0x0A]),
      properties.endIndex - data >= 8
    else { return nil }
    let numbers = (0..<4).map { index in
      let at = data + 2 * index
      let bits = UInt16(properties[at]) | UInt16(properties[at + 1]) << 8
      return Double(Int16(bitPattern: bits)) / 32767
    }
    let turn = Quaternion(w: numbers[3], x: numbers[0], y: numbers[1], z: numbers[2])
    return abs(turn.squaredNorm - 1) < 0.02 ? turn.normalized : nil
  }

  /// Returns the rotation from the sensor's axes to the head's axes (x front, y left, z up), given
  /// the result of `mounting(_:)`.
  static func sensorToHead(_ mounting: Quaternion) -> Quaternion {
    let half = 0.5.squareRoot()
    return (Quaternion(w: 0, x: half, y: -half, z: 0) * mounting).normalized
  }
}

extension ArraySlice<UInt8> {
  fileprivate func end(of text: String) -> Int? { end(of: Array(text.utf8)) }

  fileprivate func end(of pattern: [UInt8]) -> Int? {
    guard count >= pattern.count else { return nil }
    return (startIndex...(endIndex - pattern.count))
      .first { self[$0...].starts(with: pattern) }.map { $0 + pattern.count }
  }
}
