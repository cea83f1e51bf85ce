// SPDX-License-Identifier: Apache-2.0

/// `--pose`: a head pose in degrees. Yaw is positive to the left, pitch up, roll right ear down.
public struct PoseAngles: Sendable, Equatable {
  public let yawDegrees: Double
  public let pitchDegrees: Double
  public let rollDegrees: Double
}

extension ValueForm where Value == PoseAngles {
  static func pose(_ range: ClosedRange<Double>) -> Self {
    Self(grammar: .list(of: .number(range), count: 3...3)) { value in
      guard case .list(let values) = value, values.count == 3,
        case .number(let yaw) = values[0], case .number(let pitch) = values[1],
        case .number(let roll) = values[2]
      else { return nil }
      return PoseAngles(yawDegrees: yaw, pitchDegrees: pitch, rollDegrees: roll)
    }
  }
}
