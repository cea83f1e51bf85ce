// SPDX-License-Identifier: Apache-2.0

/// The loudness of a section of sound, before and after binaural rendering.
public struct LoudnessMeasurement: Sendable, Equatable {
  /// Loudness at the ears with the head facing the front, in LUFS.
  public var ears: Double
  /// Loudness of the source's channels by BS.1770-5, in LUFS; nil for a soundfield.
  public var source: Double?
  /// True peak at the ears, in dBTP; nil if it was not measured.
  public var truePeak: Double?

  public init(ears: Double, source: Double?, truePeak: Double?) {
    self.ears = ears
    self.source = source
    self.truePeak = truePeak
  }
}

/// All evidence for the loudness of a source, and the conclusion from it.
///
/// Normalisation applies to the loudness at the ears. A source states the loudness of its channels.
/// The difference between the two is always measured, because it depends on the sound as much as on
/// the layout.
public struct LoudnessEvidence: Sendable, Equatable {
  /// The loudness that the source states for itself.
  public struct Statement: Sendable, Equatable {
    /// Loudness of the source's channels, in LUFS.
    public var loudness: Double
    /// Whether the value is often left at a meaningless default, as dialnorm is. It then counts
    /// only if it agrees with the measurement.
    public var needsAgreement: Bool

    public init(loudness: Double, needsAgreement: Bool) {
      self.loudness = loudness
      self.needsAgreement = needsAgreement
    }
  }

  /// Largest difference, in LU, between a dialogue level and the measured loudness of the programme
  /// at which the dialogue level counts.
  public static let agreement = 3.0
  /// Assumed loudness at the ears while nothing is known about a source, in LUFS.
  public static let assumedLoudness = -14.0

  public var statement: Statement?
  /// A measurement of the entire source, or of sections spread over it.
  public var scan: LoudnessMeasurement?
  /// A measurement of what has been read so far.
  public var running: LoudnessMeasurement?

  public init() {}

  /// The conclusion: from a credible statement, else the scan, else what has been read, else the
  /// assumption.
  public var knowledge: LoudnessKnowledge {
    let measured = scan ?? running
    if let statement {
      guard let measured else { return Self.unchecked(statement) }
      // There is no standard for the loudness of a soundfield before decoding.
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

  /// Returns what follows from a statement before any measurement. A doubtful one counts as at
  /// least the assumed loudness, so that a wrong one does not start too loud.
  private static func unchecked(_ statement: Statement) -> LoudnessKnowledge {
    let loudness =
      statement.needsAgreement ? max(statement.loudness, assumedLoudness) : statement.loudness
    return LoudnessKnowledge(origin: .metadata, loudness: loudness)
  }
}
