// SPDX-License-Identifier: Apache-2.0

/// The known or assumed loudness of a source.
public struct LoudnessKnowledge: Sendable, Equatable {
  /// What the loudness is based on.
  public enum Origin: String, Sendable, Equatable {
    /// A measurement of the source, or of parts of the source.
    case scan
    /// A statement in the source's metadata, such as dialnorm, an MP4 loudness box or tags.
    case metadata
    /// A measurement of the sound that has been read so far.
    case running
    /// No evidence: the loudness is a typical value.
    case assumption
  }

  public var origin: Origin
  /// Integrated loudness at the ears [LUFS].
  public var loudness: Double
  /// True peak at the ears [dBTP]; nil if unknown.
  public var truePeak: Double?

  public init(origin: Origin, loudness: Double, truePeak: Double? = nil) {
    self.origin = origin
    self.loudness = loudness
    self.truePeak = truePeak
  }
}

/// The target loudness, and the rules for the gain.
public struct LoudnessTarget: Sendable, Equatable {
  /// The target loudness [LUFS].
  public var loudness: Double
  /// The highest gain [dB].
  public var maximumGain = 20.0
  /// The lowest gain [dB].
  public var minimumGain = -40.0
  /// The highest true peak of the output [dBTP].
  public var ceiling = -1.0
  /// How far a positive gain may raise the highest peak above `ceiling` [dB].
  ///
  /// This bound applies to sources whose true peak is known. The limiter reduces the excess.
  public var limiterShare = 6.0

  public init(loudness: Double) { self.loudness = loudness }

  /// Returns the gain for a source [dB]; 0 if its loudness or the target is not finite.
  public func gain(for knowledge: LoudnessKnowledge) -> Double {
    guard knowledge.loudness.isFinite, loudness.isFinite else { return 0 }
    var gain = loudness - knowledge.loudness
    if let peak = knowledge.truePeak, peak.isFinite {
      // Peaks that are already too high are no reason to attenuate a source.
      gain = min(gain, max(0, ceiling + limiterShare - peak))
    }
    return max(minimumGain, min(maximumGain, gain))
  }
}
