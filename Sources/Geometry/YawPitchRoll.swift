// SPDX-License-Identifier: Apache-2.0

import CRealtime

/// Rotation angles in degrees: positive yaw turns left, positive pitch looks up, positive roll
/// lowers the right ear.
///
/// The rotation is `Rz(yaw) * Ry(-pitch) * Rx(roll)`.
public struct YawPitchRoll: Sendable, Equatable {
  public var yaw: Double
  public var pitch: Double
  public var roll: Double

  public init(yaw: Double = 0, pitch: Double = 0, roll: Double = 0) {
    self.yaw = yaw
    self.pitch = pitch
    self.roll = roll
  }

  /// Computes the angles of a unit quaternion: yaw and roll from -180 to 180 degrees, pitch from
  /// -90 to 90 degrees.
  public init(_ q: Quaternion) {
    let r = RotationMatrix(q)
    yaw = realtime_atan2(r.y.x, r.x.x) * degreesPerRadian
    pitch = realtime_atan2(r.z.x, realtime_sqrt(r.z.y * r.z.y + r.z.z * r.z.z)) * degreesPerRadian
    roll = realtime_atan2(r.z.y, r.z.z) * degreesPerRadian
  }

  /// The rotation as a unit quaternion.
  public var quaternion: Quaternion {
    let half = 0.5 / degreesPerRadian
    let turn = Quaternion(
      w: realtime_cos(yaw * half), x: 0, y: 0, z: realtime_sin(yaw * half))
    let nod = Quaternion(
      w: realtime_cos(pitch * half), x: 0, y: -realtime_sin(pitch * half), z: 0)
    let tilt = Quaternion(
      w: realtime_cos(roll * half), x: realtime_sin(roll * half), y: 0, z: 0)
    return turn * nod * tilt
  }
}

/// The number of degrees in one radian.
public let degreesPerRadian = 180 / Double.pi
