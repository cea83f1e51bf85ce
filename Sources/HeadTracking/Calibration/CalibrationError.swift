// SPDX-License-Identifier: Apache-2.0

/// Why a tracker could not be calibrated, or a calibration cannot be used.
public enum CalibrationError: Error, Sendable, Equatable {
  /// Fewer than there must be, or none at all.
  case tooFewSamples(Int)
  /// It was to lie still, and turned by so many degrees.
  case moved(degrees: Double)
  /// A gyroscope at rest tells of more than any bias, degrees/s.
  case implausibleBias(degreesPerSecond: Double)
  /// The head turned by too little between two poses.
  case turnTooSmall(CalibrationPose, degrees: Double)
  /// Looking up and to the left were turns about axes that are not at right angles.
  case turnsAlike(degrees: Double)
  /// The last turn was not one to the left: the poses came in another order, or to the other side.
  case otherPoses
  /// The sensor's axes lie between those of the head.
  case askew(degrees: Double)
  /// The file is of another version of the format.
  case wrongVersion(Int, expected: Int)
  /// The calibration is another tracker's.
  case otherTracker(String)
  /// A value of the calibration makes no sense.
  case badValue(String)
}

/// The poses in which the axes are found.
public enum CalibrationPose: String, Sendable, CaseIterable {
  case ahead
  case up
  case left
}

extension CalibrationError: CustomStringConvertible {
  /// What is wrong and what to do, as the end of a line.
  public var description: String {
    switch self {
    case .tooFewSamples(let count):
      "only \(count) samples came; check the tracker's battery and connection"
    case .moved(let degrees):
      "it turned by \(Self.tenths(degrees)) degrees; leave it untouched while it is measured"
    case .implausibleBias(let rate):
      "the gyroscope tells of \(Self.tenths(rate)) degrees/s at rest, which is no bias; "
        + "leave it untouched, or have it repaired"
    case .turnTooSmall(let pose, let degrees):
      "looking \(pose.rawValue) turned the tracker by \(Self.tenths(degrees)) degrees only; "
        + "turn farther"
    case .turnsAlike(let degrees):
      "looking up and to the left turned it about axes \(Self.tenths(degrees)) degrees apart, "
        + "which should be 90; turn the head alone, once up and once to the left"
    case .otherPoses:
      "the last turn was not to the left; look up first, then ahead, then to the left"
    case .askew(let degrees):
      "its axes lie \(Self.tenths(degrees)) degrees off the head's; fix it straighter"
    case .wrongVersion(let version, let expected):
      version < expected
        ? "it is of version \(version), this program reads \(expected); calibrate again"
        : "it is of version \(version), made by a newer program; calibrate again"
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
