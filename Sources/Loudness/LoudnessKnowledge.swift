// SPDX-License-Identifier: Apache-2.0

/// The known or assumed loudness of a source, and the origin of this knowledge.
public struct LoudnessKnowledge: Sendable, Equatable {
  /// The origin of the knowledge.
  public enum Origin: String, Sendable, Equatable {
    /// A measurement of the entire source, of sections spread evenly over it, or of its beginning
    /// if no more has been scanned.
    case scan
    /// A statement in the source's metadata, such as dialnorm, an MP4 loudness box or tags.
    case metadata
    /// A measurement of the sound that has been read so far.
    case running
    /// No evidence: the loudness is a value that is typical of most sources.
    case assumption
  }

  public var origin: Origin
  /// Integrated loudness at the ears, in LUFS.
  public var loudness: Double
  /// True peak at the ears, in dBTP; nil if unknown.
  public var truePeak: Double?

  public init(origin: Origin, loudness: Double, truePeak: Double? = nil) {
    self.origin = origin
    self.loudness = loudness
    self.truePeak = truePeak
  }
}

/// The target loudness, and the rules that determine the gain of a source from its loudness.
public struct LoudnessTarget: Sendable, Equatable {
  /// The target loudness, in LUFS.
  public var loudness: Double
  /// The highest gain, in dB. Sources that would need more are mostly noise.
  public var maximumGain = 20.0
  /// The lowest gain, in dB.
  public var minimumGain = -40.0
  /// The highest true peak of the output, in dBTP. The limiter enforces this value.
  public var ceiling = -1.0
  /// The largest amount by which a positive gain may make the limiter reduce the highest peak, in
  /// dB. This bound applies only to sources whose true peak is known.
  ///
  /// With 0, a single click would make an entire programme quiet. Without a bound, a programme with
  /// a wide dynamic range would be limited all the time.
  public var limiterShare = 6.0

  public init(loudness: Double) { self.loudness = loudness }

  /// Returns the gain for a source, in dB; 0 if its loudness or the target is not finite.
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
