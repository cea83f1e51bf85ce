// SPDX-License-Identifier: Apache-2.0

/// The measured loudness of a section of sound, before and after rendering.
public struct LoudnessMeasurement: Sendable, Equatable {
  /// Loudness at the ears [LUFS].
  public var ears: Double
  /// Loudness of the source's channels (BS.1770-5) [LUFS]; nil if it was not measured.
  public var source: Double?
  /// True peak at the ears [dBTP]; nil if it was not measured.
  public var truePeak: Double?

  public init(ears: Double, source: Double?, truePeak: Double?) {
    self.ears = ears
    self.source = source
    self.truePeak = truePeak
  }
}

/// The evidence for the loudness of a source.
///
/// The target applies to the loudness at the ears, but a source states the loudness of its
/// channels. The measured difference, ears minus channels, is added to the stated value. Before a
/// measurement, the difference counts as 0.
public struct LoudnessEvidence: Sendable, Equatable {
  /// The loudness that the source states for itself.
  public struct Statement: Sendable, Equatable {
    /// Loudness of the source's channels [LUFS].
    public var loudness: Double
    /// Whether the value may be a meaningless default, as dialnorm often is. Such a value is
    /// ignored if a measurement disagrees; see `agreement`.
    public var needsAgreement: Bool

    public init(loudness: Double, needsAgreement: Bool) {
      self.loudness = loudness
      self.needsAgreement = needsAgreement
    }
  }

  /// A statement that needs agreement is ignored if it differs from the measured loudness of the
  /// source's channels by more than this [LU].
  public static let agreement = 3.0
  /// The loudness at the ears that is assumed without evidence [LUFS].
  public static let assumedLoudness = -14.0

  public var statement: Statement?
  /// A measurement of the source, or of parts of the source.
  public var scan: LoudnessMeasurement?
  /// A measurement of the sound that has been read so far.
  public var running: LoudnessMeasurement?

  public init() {}

  /// The conclusion from the evidence.
  ///
  /// The first of these that is available decides: a credible statement, the scan, the running
  /// measurement, the assumed loudness. A statement is not credible if the measurement (the scan
  /// or, without a scan, the running one) contradicts it (see `agreement`) or lacks the loudness of
  /// the channels.
  public var knowledge: LoudnessKnowledge {
    let measured = scan ?? running
    if let statement {
      guard let measured else { return Self.unchecked(statement) }
      // For a soundfield, `source` is nil: no standard defines the loudness of undecoded channels.
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

  /// Returns the conclusion from a statement without a measurement. A statement that needs
  /// agreement counts as at least the assumed loudness, so that playback does not start too loud.
  private static func unchecked(_ statement: Statement) -> LoudnessKnowledge {
    let loudness =
      statement.needsAgreement ? max(statement.loudness, assumedLoudness) : statement.loudness
    return LoudnessKnowledge(origin: .metadata, loudness: loudness)
  }
}
