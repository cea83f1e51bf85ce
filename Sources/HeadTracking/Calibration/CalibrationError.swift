// SPDX-License-Identifier: Apache-2.0

/// The reason why a calibration failed or cannot be used.
public enum CalibrationError: Error, Sendable, Equatable {
  /// Too few samples arrived. The value is their number.
  case tooFewSamples(Int)
  /// The tracker moved instead of resting. The value is its largest angle from the mean pose.
  case moved(degrees: Double)
  /// The tracker turned instead of resting. The value is the standard deviation of its angular
  /// velocity.
  case turned(degreesPerSecond: Double)
  /// The gyroscope's mean angular velocity at rest is too large to be a bias.
  case implausibleBias(degreesPerSecond: Double)
  /// The head turned too little from looking ahead to this pose.
  case turnTooSmall(CalibrationPose, degrees: Double)
  /// The turn to the left was not between 70 and 110 degrees.
  case notAQuarter(degrees: Double)
  /// The angle between the axes of the turns up and to the left is too far from 90 degrees. The
  /// value is that angle.
  case turnsAlike(degrees: Double)
  /// The poses do not match the instructions.
  case otherPoses
  /// The turn to the left looks like a turn to the right about the z axis of the tracker's
  /// reference frame. Or the poses do not show whether the tracker reports inverse orientations or
  /// its world is upside down.
  case mirrored
  /// The measured axes are too far from the coordinate axes. The value is the angle between them.
  case askew(degrees: Double)
  /// The file has another version of the format.
  case wrongVersion(Int, expected: Int)
  /// The calibration belongs to another tracker, which the value names.
  case otherTracker(String)
  /// A value is invalid. The text states the problem.
  case badValue(String)
}

/// A pose that the calibration asks for.
public enum CalibrationPose: String, Sendable, CaseIterable {
  case ahead
  case up
  case left
}

extension CalibrationError: CustomStringConvertible {
  /// What is wrong and what to do, to be used as the end of a one-line message.
  public var description: String {
    switch self {
    case .tooFewSamples(let count):
      "too few samples arrived (\(count)); check the tracker's battery and connection"
    case .moved(let degrees):
      "the tracker moved by \(Self.tenths(degrees)) degrees; keep it still while it is measured"
    case .turned(let spread):
      "the tracker moved: its angular velocity varied by \(Self.tenths(spread)) degrees/s; keep it "
        + "still while it is measured"
    case .implausibleBias(let rate):
      "the gyroscope reads \(Self.tenths(rate)) degrees/s at rest, which is too much for a "
        + "bias; keep the tracker still, or have it repaired"
    case .turnTooSmall(let pose, let degrees):
      "looking \(pose.rawValue) turned the tracker by only \(Self.tenths(degrees)) degrees; "
        + "move your head further"
    case .notAQuarter(let degrees):
      "the turn to the left measured \(Self.tenths(degrees)) degrees instead of 90; turn your "
        + "whole body until it faces left"
    case .turnsAlike(let degrees):
      "the turns up and to the left were about axes that are \(Self.tenths(degrees)) degrees "
        + "apart instead of 90; turn only your head, first up, then ahead again, and then to the "
        + "left"
    case .otherPoses:
      "the poses do not match the instructions; look ahead, up, ahead again and to the left"
    case .mirrored:
      "the turn to the left looks like a turn to the right; if you turned to the right, calibrate "
        + "again; otherwise the tracker's axes are mirrored or upside down: if it has a profile, "
        + "change the sign of 'yaw' or of 'quaternionZ' in the profile, or set 'inverse' or 'axes'"
    case .askew(let degrees):
      "the tracker or the turn to the left is \(Self.tenths(degrees)) degrees askew; mount the "
        + "tracker straighter, and keep your head upright while you turn left"
    case .wrongVersion(let version, let expected):
      version < expected
        ? "it has version \(version), but this program reads version \(expected); calibrate again"
        : "it has version \(version), from a newer release of this program; calibrate again"
    case .otherTracker(let name): "it belongs to \(name); calibrate this tracker"
    case .badValue(let what): "\(what); calibrate again"
    }
  }

  private static func tenths(_ value: Double) -> String {
    guard abs(value) < 1e9 else { return "\(value)" }
    let units = Int((abs(value) * 10).rounded())
    return "\(value < 0 && units > 0 ? "-" : "")\(units / 10).\(units % 10)"
  }
}
