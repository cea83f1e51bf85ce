// SPDX-License-Identifier: Apache-2.0

/// What is known of how loud a source is, and how.
public struct LoudnessKnowledge: Sendable, Equatable {
  /// Where it comes from, from the most certain to the least.
  public enum Origin: String, Sendable, Equatable {
    /// All of the source, or evenly spread pieces of it, was measured.
    case scan
    /// The source says so: dialnorm, a loudness box, tags.
    case metadata
    /// What has been played so far.
    case running
    /// Nothing; most sources are about so loud.
    case assumption
  }

  public var origin: Origin
  /// Integrated loudness at the ears, LUFS.
  public var loudness: Double
  /// dBTP at the ears; nil where it is not known.
  public var truePeak: Double?

  public init(origin: Origin, loudness: Double, truePeak: Double? = nil) {
    self.origin = origin
    self.loudness = loudness
    self.truePeak = truePeak
  }
}

/// How a gain follows from what is known.
public struct LoudnessTarget: Sendable, Equatable {
  /// LUFS.
  public var loudness: Double
  /// dB. What is softer than this allows is mostly noise.
  public var maximumGain = 20.0
  /// dB.
  public var minimumGain = -40.0
  /// dBTP that the output does not exceed: the limiter sees to that.
  public var ceiling = -1.0
  /// How many dB the limiter may have to take off the highest peak of a source whose peak is known.
  ///
  /// Without any, one click would make a whole programme soft; without a bound, a programme of
  /// wide dynamics would be limited all the time.
  public var limiterShare = 6.0

  public init(loudness: Double) { self.loudness = loudness }

  /// The gain in dB.
  public func gain(for knowledge: LoudnessKnowledge) -> Double {
    guard knowledge.loudness.isFinite, loudness.isFinite else { return 0 }
    var gain = loudness - knowledge.loudness
    if let peak = knowledge.truePeak, peak.isFinite {
      // Peaks that are too high already are no reason to turn a source down.
      gain = min(gain, max(0, ceiling + limiterShare - peak))
    }
    return max(minimumGain, min(maximumGain, gain))
  }
}
