// SPDX-License-Identifier: Apache-2.0

import Geometry

/// Decodes the datagrams of OpenTrack and of FreePIE's phone application.
enum AngleDatagram {
  /// Decodes an OpenTrack datagram; nil if it contains no valid pose.
  ///
  /// The datagram has six little-endian doubles: x, y, z in cm, then yaw, pitch, roll in degrees.
  /// Some senders append a frame number.
  static func opentrack(_ bytes: [UInt8], _ signs: AngleSigns) -> Quaternion? {
    guard (48...64).contains(bytes.count) else { return nil }
    let angles = (3..<6).map { double(bytes, 8 * $0) }
    return head(angles, signs)
  }

  /// Decodes a FreePIE datagram; nil if it contains no valid pose.
  ///
  /// The datagram has a device number (1 byte), flags (1 byte; bit 0: raw values, bit 1:
  /// orientation) and little-endian floats: nine raw values if present, then azimuth, pitch and
  /// roll in radians.
  static func freepie(_ bytes: [UInt8], _ signs: AngleSigns) -> Quaternion? {
    guard bytes.count >= 14, bytes[1] & 2 != 0 else { return nil }
    let start = bytes[1] & 1 != 0 ? 2 + 9 * 4 : 2
    guard start + 12 <= bytes.count else { return nil }
    let angles = (0..<3).map { Double(float(bytes, start + 4 * $0)) * degreesPerRadian }
    return head(angles, signs)
  }

  private static func head(_ angles: [Double], _ signs: AngleSigns) -> Quaternion? {
    guard angles.allSatisfy({ $0.isFinite && abs($0) <= 3600 }) else { return nil }
    return YawPitchRoll(
      yaw: signs.yaw * angles[0], pitch: signs.pitch * angles[1], roll: angles[2]
    ).quaternion
  }

  private static func double(_ bytes: [UInt8], _ at: Int) -> Double {
    Double(bitPattern: bytes[at..<at + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) })
  }

  private static func float(_ bytes: [UInt8], _ at: Int) -> Float {
    Float(bitPattern: bytes[at..<at + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) })
  }
}
