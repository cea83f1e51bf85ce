// SPDX-License-Identifier: Apache-2.0

import Binaural
import CommandSupport
import Geometry
import HeadTracking

/// A tracker's pose as text.
struct PoseLine {
  let pose: Quaternion
  let status: HeadPoseStatus

  /// Returns `t yaw pitch roll rate` in seconds, degrees and samples per second; nil before the
  /// first sample. The rate is 0 unless the pose is fresh.
  func plain(seconds: Double) -> String? {
    guard status.freshness != .waiting else { return nil }
    let angles = YawPitchRoll(pose)
    return [
      decimal(seconds, 3), decimal(angles.yaw, 2), decimal(angles.pitch, 2),
      decimal(angles.roll, 2), decimal(rate, 1),
    ].joined(separator: " ")
  }

  /// The rate in samples per second; 0 unless the pose is fresh.
  private var rate: Double { status.freshness == .fresh ? status.rate : 0 }

  /// The text for a terminal.
  var forPeople: String {
    guard let age = status.ageMilliseconds else {
      return "waiting for the first sample (q quits)"
    }
    let angles = YawPitchRoll(pose)
    return [
      "yaw \(degrees(angles.yaw))", "pitch \(degrees(angles.pitch))",
      "roll \(degrees(angles.roll))", "\(decimal(rate, 1).rightAligned(to: 6)) Hz",
      "age \(decimal(min(age, 99999), 0).rightAligned(to: 3)) ms", status.freshness.rawValue,
    ].joined(separator: "  ")
  }

  private func degrees(_ value: Double) -> String { decimal(value, 1).rightAligned(to: 6) }
}
