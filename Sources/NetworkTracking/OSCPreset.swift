// SPDX-License-Identifier: Apache-2.0

public import Geometry

/// A convention for head poses in OSC messages: addresses, order and signs.
///
/// In the table, q = Rz(yaw) Ry(-pitch) Rx(roll) is the head pose, with x to the front, y to the
/// left and z up. Positive angles turn the head to the left (yaw), up (pitch) and towards the right
/// ear (roll).
///
/// | preset | message | numbers |
/// |---|---|---|
/// | `ypr` | `/ypr`, or `/yaw` `/pitch` `/roll` | yaw, pitch, roll, degrees |
/// | `quaternion` | `/quaternion` | w, x, y, z of q |
/// | `sparta` | `/ypr`, or `/yaw` `/pitch` `/roll` | yaw, -pitch, roll, degrees |
/// | `iem` | `/SceneRotator/quaternions` | w, x, y, z of the inverse of q |
/// | `iem-ypr` | `/SceneRotator/ypr`, or `/SceneRotator/yaw` ... | -yaw, pitch, -roll, degrees |
///
/// `sparta`: the rotation matrix of the Spatial Audio Framework is passive, so it already rotates
/// the scene against the head. A positive pitch means that the head looks down.
///
/// `iem`: the SceneRotator rotates the scene, so it needs the inverse of the head pose. In its
/// default order of rotations, its angles denote the active rotation Rx(roll) Ry(pitch) Rz(yaw).
public enum OSCPreset: String, Sendable, CaseIterable {
  case ypr
  case quaternion
  case sparta
  case iem
  case iemAngles = "iem-ypr"

  /// The usual OSC message of the preset, for a note to the user.
  var expectation: String {
    switch self {
    case .ypr, .sparta: "/ypr with 3 numbers"
    case .quaternion: "/quaternion with 4 numbers"
    case .iem: "/SceneRotator/quaternions with 4 numbers"
    case .iemAngles: "/SceneRotator/ypr with 3 numbers"
    }
  }

  /// Returns the message that transmits a head pose.
  public func message(for head: Quaternion) -> OSCMessage {
    let angles = YawPitchRoll(head)
    switch self {
    case .ypr:
      return OSCMessage("/ypr", [angles.yaw, angles.pitch, angles.roll])
    case .sparta:
      return OSCMessage("/ypr", [angles.yaw, -angles.pitch, angles.roll])
    case .iemAngles:
      return OSCMessage("/SceneRotator/ypr", [-angles.yaw, angles.pitch, -angles.roll])
    case .quaternion:
      return OSCMessage("/quaternion", [head.w, head.x, head.y, head.z])
    case .iem:
      return OSCMessage("/SceneRotator/quaternions", [head.w, -head.x, -head.y, -head.z])
    }
  }
}

/// An OSC message with numbers as arguments. A received argument that is not a number becomes NaN.
public struct OSCMessage: Sendable, Equatable {
  public var address: String
  public var numbers: [Double]

  public init(_ address: String, _ numbers: [Double]) {
    self.address = address
    self.numbers = numbers
  }

  /// The first 60 characters of the address, and the number of arguments.
  var text: String {
    let count = numbers.count
    return "\(address.prefix(60)) with \(count) \(count == 1 ? "argument" : "arguments")"
  }
}

/// Combines the messages of a preset into poses.
public struct OSCHead: Sendable {
  private let preset: OSCPreset
  /// The latest yaw, pitch and roll, in degrees, with the sender's signs.
  private var angles = [0.0, 0.0, 0.0]
  private var components: [Double?] = [nil, nil, nil, nil]

  public init(_ preset: OSCPreset) { self.preset = preset }

  /// Returns the head pose after a message, or nil if the message does not yield a valid pose.
  ///
  /// Angles have the signs of the preset. `sparta` does not accept quaternions. The component `qz`
  /// must arrive after `qw`, `qx` and `qy`.
  public mutating func take(_ message: OSCMessage) -> Quaternion? {
    guard message.numbers.allSatisfy({ $0.isFinite && abs($0) < 1e6 }) else { return nil }
    var name = message.address[...]
    if preset == .iem || preset == .iemAngles {
      guard name.hasPrefix("/SceneRotator/") else { return nil }
      name = name.dropFirst("/SceneRotator".count)
    }
    switch (name, message.numbers.count) {
    case ("/ypr", 3): angles = message.numbers
    case ("/yaw", 1): angles[0] = message.numbers[0]
    case ("/pitch", 1): angles[1] = message.numbers[0]
    case ("/roll", 1): angles[2] = message.numbers[0]
    case ("/quaternion", 4), ("/quaternions", 4): return head(quaternion: message.numbers)
    case ("/qw", 1): return head(component: 0, message.numbers[0])
    case ("/qx", 1): return head(component: 1, message.numbers[0])
    case ("/qy", 1): return head(component: 2, message.numbers[0])
    case ("/qz", 1): return head(component: 3, message.numbers[0])
    default: return nil
    }
    return head(yaw: angles[0], pitch: angles[1], roll: angles[2])
  }

  private func head(yaw: Double, pitch: Double, roll: Double) -> Quaternion {
    switch preset {
    case .ypr, .quaternion:
      YawPitchRoll(yaw: yaw, pitch: pitch, roll: roll).quaternion
    case .sparta:
      YawPitchRoll(yaw: yaw, pitch: -pitch, roll: roll).quaternion
    case .iem, .iemAngles:
      YawPitchRoll(yaw: -yaw, pitch: pitch, roll: -roll).quaternion
    }
  }

  private func head(quaternion q: [Double]) -> Quaternion? {
    let turn = Quaternion(w: q[0], x: q[1], y: q[2], z: q[3])
    guard turn.squaredNorm > 0.5, turn.squaredNorm < 2 else { return nil }
    switch preset {
    case .ypr, .quaternion: return turn.normalized
    case .iem, .iemAngles: return turn.conjugate.normalized
    // The Spatial Audio Framework uses another convention for quaternions, and no sender is
    // expected to use that convention.
    case .sparta: return nil
    }
  }

  private mutating func head(component index: Int, _ value: Double) -> Quaternion? {
    components[index] = value
    let known = components.compactMap(\.self)
    // Senders transmit the components in order, so the set is complete with the last one.
    guard index == 3, known.count == 4 else { return nil }
    return head(quaternion: known)
  }
}
