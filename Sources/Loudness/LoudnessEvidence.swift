// SPDX-License-Identifier: Apache-2.0

/// The measured loudness of a section of sound, before and after rendering.
public struct LoudnessMeasurement: Sendable, Equatable {
  /// Loudness at the ears, in LUFS. The head faces the front. In offline rendering, it has the
  /// rendered pose or motion instead.
  public var ears: Double
  /// Loudness of the source's channels according to BS.1770-5, in LUFS; nil for a soundfield, or if
  /// it was not measured.
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
/// Normalisation applies to the loudness at the ears, but a source states the loudness of its
/// channels. The difference between the two is measured, because it depends on the sound as much as
/// on the layout. Until it has been measured, it counts as 0.
public struct LoudnessEvidence: Sendable, Equatable {
  /// The loudness that the source states for itself.
  public struct Statement: Sendable, Equatable {
    /// Loudness of the source's channels, in LUFS.
    public var loudness: Double
    /// Whether the value is of a kind that is often left at a meaningless default, such as
    /// dialnorm. Such a value is ignored if a measurement disagrees with it; see `agreement`.
    public var needsAgreement: Bool

    public init(loudness: Double, needsAgreement: Bool) {
      self.loudness = loudness
      self.needsAgreement = needsAgreement
    }
  }

  /// Once there is a measurement, a statement that needs agreement counts only if it differs from
  /// the measured loudness of the channels by at most this value, in LU.
  public static let agreement = 3.0
  /// The assumed loudness at the ears, in LUFS, as long as there is no evidence.
  public static let assumedLoudness = -14.0

  public var statement: Statement?
  /// A measurement of the entire source, of sections spread over it, or of its beginning if no more
  /// has been scanned.
  public var scan: LoudnessMeasurement?
  /// A measurement of what has been read so far.
  public var running: LoudnessMeasurement?

  public init() {}

  /// The conclusion from the evidence. The first of these that is available decides: a credible
  /// statement, the scan, the running measurement, the assumed loudness. A measurement without the
  /// loudness of the source's channels, as for a soundfield, takes precedence over a statement.
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

  /// Returns the conclusion from a statement before any measurement.
  ///
  /// If the statement needs agreement, its loudness counts as at least the assumed loudness, so
  /// that playback does not start too loud if the statement is wrong.
  private static func unchecked(_ statement: Statement) -> LoudnessKnowledge {
    let loudness =
      statement.needsAgreement ? max(statement.loudness, assumedLoudness) : statement.loudness
    return LoudnessKnowledge(origin: .metadata, loudness: loudness)
  }
}
