// SPDX-License-Identifier: Apache-2.0

/// `--latency`: the latency of PulseAudio's queue and sink, or the length of PipeWire's cycle.
public enum LatencyChoice: Sendable, Equatable {
  /// A value that the program chooses and, if necessary, adapts during playback.
  case auto
  case milliseconds(Double)
}

extension ValueForm where Value == LatencyChoice {
  static func latency(_ range: ClosedRange<Double>) -> Self {
    .either(["auto": .auto], or: .number(range)) { $0.number.map { .milliseconds($0) } }
  }
}

/// `--loudness`: the target loudness. For `play`, it applies to each source; for `render`, to the
/// binaural sound.
public enum LoudnessChoice: Sendable, Equatable {
  case off
  /// A value in LUFS.
  case target(Double)

  /// The value of `target(_:)`; nil for `off`.
  public var target: Double? {
    if case .target(let loudness) = self { loudness } else { nil }
  }
}

extension ValueForm where Value == LoudnessChoice {
  static func loudness(_ range: ClosedRange<Double>) -> Self {
    .either(["off": .off], or: .number(range)) { $0.number.map { .target($0) } }
  }
}

/// `--predict`: how far ahead the head pose is predicted.
public enum PredictChoice: Sendable, Equatable {
  /// Looks ahead by the measured latency, within limits.
  case auto
  case off
  /// Looks ahead by a fixed time.
  case milliseconds(Double)
}

extension ValueForm where Value == PredictChoice {
  static func prediction(_ range: ClosedRange<Double>) -> Self {
    .either(["auto": .auto, "off": .off], or: .number(range)) {
      $0.number.map { .milliseconds($0) }
    }
  }
}

/// `--renditions`: the renditions that `fetch` downloads.
public enum RenditionsChoice: Sendable, Equatable {
  /// The best multichannel rendition and the best stereo rendition that can be decoded.
  case best
  case all
  /// The renditions with these names.
  case named([String])
}

extension ValueForm where Value == RenditionsChoice {
  static var renditions: Self {
    .either(["best": .best, "all": .all], or: .list(of: .text, count: 1...64)) {
      $0.list.map { .named($0.compactMap(\.text)) }
    }
  }
}

/// `--tracker`: the head tracker that rotates the stage.
public enum TrackerArgument: Sendable, Equatable {
  /// A head tracker that is chosen automatically.
  case auto
  case none
  /// The tracker with this ID, such as `osc:9000` or `replay:FILE`.
  case id(String)

  /// The ID; nil for the other cases.
  public var id: String? {
    if case .id(let id) = self { id } else { nil }
  }
}

extension ValueForm where Value == TrackerArgument {
  /// The prefixes of the IDs that name a network tracker, a MIDI port, a serial port or a capture.
  static var networkTrackerStarts: [String] {
    ["osc", "opentrack", "freepie"].flatMap { ["\($0):", "\($0):any:"] }
      + ["midi:", "serial:", "replay:"]
  }

  static var tracker: Self {
    Self(
      grammar: .either(["auto", "none"], .either(networkTrackerStarts, .text))
    ) { value in
      switch value {
      case .word("auto"): .auto
      case .word("none"): TrackerArgument.none
      default: (value.text ?? value.word).map { .id($0) }
      }
    }
  }
}

/// `--pose`: a head pose in degrees. Yaw is positive to the left, pitch is positive up, and roll is
/// positive with the right ear down.
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
