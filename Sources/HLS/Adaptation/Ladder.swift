// SPDX-License-Identifier: Apache-2.0

/// A version of a presentation's sound that has a media playlist: the adaptation chooses among
/// these.
///
/// In the terms of RFC 8216: an audio rendition (`RenditionEntry`) with a playlist of its own, or a
/// variant stream (`Variant`) whose own segments hold the sound. Elsewhere a rendition is meant by
/// its index in the `Ladder`.
public struct Rendition: Sendable, Equatable {
  /// The media playlist that has to be fetched.
  public var uri: String
  /// bit/s of everything that has to be fetched to hear it, pictures in the same segments included.
  public var bitRate: Double
  /// It is made spatial from its own channels; others are upmixed stereo.
  public var isMultichannel: Bool
  /// The provider's preference (RFC 8216bis, SCORE): the higher the better.
  public var score: Double?
  /// As far as the playlist tells.
  public var channels: Int?
  /// The bit rate is not told by the playlist but guessed from the codec.
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

/// Which treatment of the sound is preferred where both can be had.
public enum TreatmentPreference: String, Sendable, CaseIterable {
  /// Multichannel whenever the line carries it.
  case multichannel
  /// Stereo even if the line carries more.
  case stereo
}

/// The renditions that are worth fetching, the cheapest first: stereo, then multichannel.
public struct Ladder: RandomAccessCollection, Sendable, Equatable {
  private let renditions: [Rendition]

  public var startIndex: Int { 0 }
  public var endIndex: Int { renditions.count }
  public subscript(index: Int) -> Rendition { renditions[index] }

  /// Leaves out what is never worth its bits: a rendition above `maximumBitRate`; a stereo
  /// rendition that costs as much as a multichannel one; a rendition that costs more than one of
  /// the same treatment and has no better score. It is empty when nothing is below the maximum.
  ///
  /// - Parameter maximumBitRate: bit/s.
  public init(
    _ renditions: some Sequence<Rendition>, maximumBitRate: Double = .infinity,
    prefer preference: TreatmentPreference = .multichannel
  ) {
    let usable = renditions.filter { $0.bitRate.isFinite && $0.bitRate > 0 }
    let wanted = Self.preferred(usable, preference)
    let affordable = wanted.filter { $0.bitRate <= maximumBitRate }
    // What is not wanted is better than silence.
    let kept = affordable.isEmpty ? usable.filter { $0.bitRate <= maximumBitRate } : affordable
    let multichannel = Self.worthwhile(kept.filter(\.isMultichannel))
    let ceiling = multichannel.first?.bitRate ?? .infinity
    let stereo = Self.worthwhile(kept.filter { !$0.isMultichannel && $0.bitRate < ceiling })
    self.renditions = stereo + multichannel
  }

  /// The cheapest multichannel rendition.
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
