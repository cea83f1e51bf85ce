// SPDX-License-Identifier: Apache-2.0

/// A version of a presentation's sound with its own media playlist. Adaptation chooses among the
/// renditions of a ladder.
///
/// In terms of RFC 8216, a `Rendition` is an audio rendition (`RenditionEntry`) with its own
/// playlist, or a variant stream (`Variant`) whose own segments contain the sound. Where a
/// rendition is given as a number, that number is an index into the `Ladder`.
public struct Rendition: Sendable, Equatable {
  /// Address of the rendition's media playlist.
  public var uri: String
  /// Bit rate of everything that must be fetched, in bit/s, including video in the same segments.
  public var bitRate: Double
  /// Whether the rendition has more than two channels. All other renditions count as stereo.
  public var isMultichannel: Bool
  /// The provider's preference (RFC 8216bis, SCORE): higher is better. Nil if it is not stated.
  public var score: Double?
  /// Number of channels as stated by the playlist, or as decoded, or else as usual for the codec;
  /// nil if unknown.
  public var channels: Int?
  /// Whether the bit rate is guessed from the codec, because the playlist does not state it.
  public var isGuessed: Bool

  public init(
    uri: String, bitRate: Double, isMultichannel: Bool, score: Double? = nil,
    channels: Int? = nil, isGuessed: Bool = false
  ) {
    self.uri = uri
    self.bitRate = bitRate
    self.isMultichannel = isMultichannel
    self.score = score
    self.channels = channels
    self.isGuessed = isGuessed
  }
}

/// The preferred treatment of the sound if multichannel and stereo are both available.
public enum TreatmentPreference: String, Sendable, CaseIterable {
  /// Multichannel whenever the throughput suffices.
  case multichannel
  /// Stereo even if the throughput suffices for multichannel.
  case stereo
}

/// The renditions that are worth fetching, in ascending order of bit rate. Stereo renditions come
/// before multichannel renditions.
public struct Ladder: RandomAccessCollection, Sendable, Equatable {
  private let renditions: [Rendition]

  public var startIndex: Int { 0 }
  public var endIndex: Int { renditions.count }
  public subscript(index: Int) -> Rendition { renditions[index] }

  /// Creates a ladder from the renditions that are worth their bit rate.
  ///
  /// Leaves out a rendition above `maximumBitRate` or without a positive, finite bit rate. Leaves
  /// out a stereo rendition unless its bit rate is below that of every multichannel rendition of
  /// the ladder. Goes through the renditions of each treatment in ascending order of bit rate, and
  /// keeps a rendition only if its score is better than the scores of all kept renditions before
  /// it. If any score of a treatment is missing, a higher bit rate counts as a better score. The
  /// ladder is empty if no rendition is within the maximum.
  ///
  /// - Parameters:
  ///   - maximumBitRate: upper limit in bit/s.
  ///   - preference: the preferred treatment. `.multichannel` keeps both treatments. `.stereo`
  ///     leaves out multichannel if a stereo rendition is within the maximum.
  public init(
    _ renditions: some Sequence<Rendition>, maximumBitRate: Double = .infinity,
    prefer preference: TreatmentPreference = .multichannel
  ) {
    let usable = renditions.filter { $0.bitRate.isFinite && $0.bitRate > 0 }
    let wanted = Self.preferred(usable, preference)
    let affordable = wanted.filter { $0.bitRate <= maximumBitRate }
    // The treatment that is not preferred is better than silence.
    let kept = affordable.isEmpty ? usable.filter { $0.bitRate <= maximumBitRate } : affordable
    let multichannel = Self.worthwhile(kept.filter(\.isMultichannel))
    let ceiling = multichannel.first?.bitRate ?? .infinity
    let stereo = Self.worthwhile(kept.filter { !$0.isMultichannel && $0.bitRate < ceiling })
    self.renditions = stereo + multichannel
  }

  /// Index of the cheapest multichannel rendition; nil if there is none.
  public var firstMultichannel: Int? { firstIndex(where: \.isMultichannel) }

  private static func preferred(_ renditions: [Rendition], _ preference: TreatmentPreference)
    -> [Rendition]
  {
    let stereo = renditions.filter { !$0.isMultichannel }
    return preference == .stereo && !stereo.isEmpty ? stereo : renditions
  }

  private static func worthwhile(_ renditions: [Rendition]) -> [Rendition] {
    let areScored = renditions.allSatisfy { $0.score != nil }
    func value(_ rendition: Rendition) -> Double {
      areScored ? rendition.score ?? 0 : rendition.bitRate
    }
    var kept: [Rendition] = []
    let ordered = renditions.sorted { ($0.bitRate, -value($0)) < ($1.bitRate, -value($1)) }
    for rendition in ordered where kept.last.map({ value(rendition) > value($0) }) ?? true {
      kept.append(rendition)
    }
    return kept
  }
}
