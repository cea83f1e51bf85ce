// SPDX-License-Identifier: Apache-2.0

/// `--latency`: how deep the sound server's queue is.
public enum LatencyChoice: Sendable, Equatable {
  /// The player's own choice: 40-200 ms, deeper after an underrun.
  case auto
  case milliseconds(Double)
}

extension ValueForm where Value == LatencyChoice {
  static func latency(_ range: ClosedRange<Double>) -> Self {
    .either(["auto": .auto], or: .number(range)) { $0.number.map { .milliseconds($0) } }
  }
}

/// `--loudness`: what every source is brought to.
public enum LoudnessChoice: Sendable, Equatable {
  case off
  /// LUFS.
  case target(Double)

  /// LUFS; nil where sources stay as they are.
  public var target: Double? {
    if case .target(let loudness) = self { loudness } else { nil }
  }
}

extension ValueForm where Value == LoudnessChoice {
  static func loudness(_ range: ClosedRange<Double>) -> Self {
    .either(["off": .off], or: .number(range)) { $0.number.map { .target($0) } }
  }
}

/// `--predict`: how far ahead the head is predicted.
public enum PredictChoice: Sendable, Equatable {
  /// By the latency as it is measured.
  case auto
  case off
  /// By so much, whatever the latency.
  case milliseconds(Double)
}

extension ValueForm where Value == PredictChoice {
  static func prediction(_ range: ClosedRange<Double>) -> Self {
    .either(["auto": .auto, "off": .off], or: .number(range)) {
      $0.number.map { .milliseconds($0) }
    }
  }
}

/// `--renditions`: which renditions `fetch` takes.
public enum RenditionsChoice: Sendable, Equatable {
  /// The richest multichannel one and the richest stereo one.
  case best
  case all
  /// By their names.
  case named([String])
}

extension ValueForm where Value == RenditionsChoice {
  static var renditions: Self {
    .either(["best": .best, "all": .all], or: .list(of: .text, count: 1...64)) {
      $0.list.map { .named($0.compactMap(\.text)) }
    }
  }
}

/// `--tracker`: which head tracker turns the stage.
public enum TrackerArgument: Sendable, Equatable {
  /// The first tracker there is, and any that comes later.
  case auto
  case none
  /// The tracker that `stillstage trackers` lists by this name.
  case id(String)
}

extension ValueForm where Value == TrackerArgument {
  static var tracker: Self {
    .either(["auto": .auto, "none": TrackerArgument.none], or: .text) { $0.text.map { .id($0) } }
  }
}

/// `--pose`: a head pose in degrees. Yaw is positive to the left, pitch up, roll right ear down.
public struct PoseAngles: Sendable, Equatable {
  public let yawDegrees: Double
  public let pitchDegrees: Double
  public let rollDegrees: Double
}

extension ValueForm where Value == PoseAngles {
  static func pose(_ range: ClosedRange<Double>) -> Self {
    Self(grammar: .list(of: .number(range), count: 3...3)) { value in
      guard let angles = value.list?.compactMap(\.number), angles.count == 3 else { return nil }
      return PoseAngles(
        yawDegrees: angles[0], pitchDegrees: angles[1], rollDegrees: angles[2])
    }
  }
}
