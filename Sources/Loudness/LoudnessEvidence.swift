// SPDX-License-Identifier: Apache-2.0

/// A stretch of sound, measured before and after it is made binaural.
public struct LoudnessMeasurement: Sendable, Equatable {
  /// At the ears, with the head looking ahead: LUFS.
  public var ears: Double
  /// Of the source's channels by BS.1770-5, LUFS; nil for a soundfield.
  public var source: Double?
  /// At the ears, dBTP.
  public var truePeak: Double?

  public init(ears: Double, source: Double?, truePeak: Double?) {
    self.ears = ears
    self.source = source
    self.truePeak = truePeak
  }
}

/// All that speaks for how loud a source is, and what follows from it.
///
/// What is normalised is the loudness at the ears. What a source states is the loudness of its
/// channels; the difference between the two is always measured, for it depends on the sound as much
/// as on the layout.
public struct LoudnessEvidence: Sendable, Equatable {
  /// A statement of the source's own.
  public struct Statement: Sendable, Equatable {
    /// LUFS of the source's channels.
    public var loudness: Double
    /// Whether it is often left at a value that says nothing, as dialnorm is: then it counts only
    /// as far as it agrees with what is measured.
    public var needsAgreement: Bool

    public init(loudness: Double, needsAgreement: Bool) {
      self.loudness = loudness
      self.needsAgreement = needsAgreement
    }
  }

  /// LU between a dialogue level and the loudness of the whole programme within which the dialogue
  /// level is believed.
  public static let agreement = 3.0
  /// LUFS at the ears of a source of which nothing is known yet.
  public static let assumedLoudness = -14.0

  public var statement: Statement?
  /// Of all of the source, or of pieces spread over it.
  public var scan: LoudnessMeasurement?
  /// Of what has been read so far.
  public var running: LoudnessMeasurement?

  public init() {}

  public var knowledge: LoudnessKnowledge {
    let measured = scan ?? running
    if let statement {
      guard let measured else { return Self.unchecked(statement) }
      // Nobody has agreed on how to measure a soundfield before it is decoded.
      if let source = measured.source {
        let isBelieved =
          !statement.needsAgreement || abs(source - statement.loudness) <= Self.agreement
        if isBelieved {
          return LoudnessKnowledge(
            origin: .metadata, loudness: statement.loudness + measured.ears - source,
            truePeak: measured.truePeak)
        }
      }
    }
    guard let measured else {
      return LoudnessKnowledge(origin: .assumption, loudness: Self.assumedLoudness)
    }
    return LoudnessKnowledge(
      origin: scan == nil ? .running : .scan, loudness: measured.ears,
      truePeak: measured.truePeak)
  }

  /// A wrong statement must not begin loud.
  private static func unchecked(_ statement: Statement) -> LoudnessKnowledge {
    let loudness =
      statement.needsAgreement ? max(statement.loudness, assumedLoudness) : statement.loudness
    return LoudnessKnowledge(origin: .metadata, loudness: loudness)
  }
}
