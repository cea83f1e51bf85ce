// SPDX-License-Identifier: Apache-2.0

/// The reason why a tracker could not be calibrated, or why a calibration cannot be used.
public enum CalibrationError: Error, Sendable, Equatable {
  /// Too few samples arrived. The value is their number.
  case tooFewSamples(Int)
  /// The tracker moved although it should have been still. The value is its largest angle from the
  /// mean pose, in degrees.
  case moved(degrees: Double)
  /// The tracker turned although it should have been still. The value is the standard deviation of
  /// its angular velocity, in degrees/s.
  case turned(degreesPerSecond: Double)
  /// The gyroscope's mean rate at rest, in degrees/s, is too large for a bias.
  case implausibleBias(degreesPerSecond: Double)
  /// The head turned by only `degrees` from looking ahead to this pose, which is too little.
  case turnTooSmall(CalibrationPose, degrees: Double)
  /// The requested turn of 90 degrees to the left measured this many degrees, which is outside the
  /// range 70 to 110.
  case notAQuarter(degrees: Double)
  /// The axes of the turns up and to the left were `degrees` apart, too far from a right angle.
  case turnsAlike(degrees: Double)
  /// The last turn was not to the left: the poses were taken in another order, or the head turned
  /// to the right. For a tracker that levels its own world: no convention fits the poses.
  case otherPoses
  /// An axis is off by this angle, which is too much: either the tracker's axes are not aligned
  /// with the head's, or the axis of the turn to the left is not aligned with an axis of the
  /// tracker's reference frame.
  case askew(degrees: Double)
  /// The file has another version of the format.
  case wrongVersion(Int, expected: Int)
  /// The calibration belongs to another tracker, which the value names.
  case otherTracker(String)
  /// A value of the calibration or of the measurement is invalid. The text states the problem.
  case badValue(String)
}

/// The poses from which the axes are found.
public enum CalibrationPose: String, Sendable, CaseIterable {
  case ahead
  case up
  case left
}

extension CalibrationError: CustomStringConvertible {
  /// The end of a one-line message: what is wrong and what to do.
  public var description: String {
    switch self {
    case .tooFewSamples(let count):
      "too few samples arrived (\(count)); check the tracker's battery and connection"
    case .moved(let degrees):
      "it moved by \(Self.tenths(degrees)) degrees; keep it still while it is measured"
    case .turned(let spread):
      "it moved: its angular velocity varied by \(Self.tenths(spread)) degrees/s; keep it still "
        + "while it is measured"
    case .implausibleBias(let rate):
      "the gyroscope reads \(Self.tenths(rate)) degrees/s at rest, too much for a bias; "
        + "keep the tracker still, or have it repaired"
    case .turnTooSmall(let pose, let degrees):
      "looking \(pose.rawValue) turned the tracker by only \(Self.tenths(degrees)) degrees; "
        + "turn your head further"
    case .notAQuarter(let degrees):
      "the turn to the left measured \(Self.tenths(degrees)) degrees instead of 90; turn your "
        + "whole body until it faces left"
    case .turnsAlike(let degrees):
      "the turns up and to the left were about axes that are \(Self.tenths(degrees)) degrees "
        + "apart instead of 90; turn only your head, first up, then ahead again, and then to the "
        + "left"
    case .otherPoses:
      "the poses do not match the instructions; look ahead, up, ahead again and to the left"
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
