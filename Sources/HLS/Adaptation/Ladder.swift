// SPDX-License-Identifier: Apache-2.0

/// A version of a presentation's sound, and the media playlist that contains it.
///
/// A rendition in this sense is a `RenditionEntry` with its own playlist, or a `Variant` whose
/// segments contain the sound (RFC 8216). A rendition number is an index into the `Ladder`.
public struct Rendition: Sendable, Equatable {
  /// The address of the media playlist.
  public var uri: String
  /// Bit rate of the segments, in bit/s, including any video in them.
  public var bitRate: Double
  /// Whether the rendition has more than two channels.
  public var isMultichannel: Bool
  /// The provider's preference (RFC 8216bis, SCORE); higher is better. Nil if it is not stated.
  public var score: Double?
  /// Number of channels; nil if unknown.
  public var channels: Int?
  /// Whether the bit rate is guessed from the codec instead of stated by the provider.
  public var isGuessed: Bool
  /// Addresses of other media playlists with the same content, for example on other hosts, in the
  /// order in which to try them.
  public var alternatives: [String] = []

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

/// The treatment to prefer if multichannel and stereo are both available.
public enum TreatmentPreference: String, Sendable, CaseIterable {
  /// Multichannel if the throughput suffices.
  case multichannel
  /// Stereo even if the throughput suffices for multichannel.
  case stereo
}

/// The renditions that are worth fetching: stereo before multichannel, each in ascending order of
/// bit rate.
public struct Ladder: RandomAccessCollection, Sendable, Equatable {
  private let renditions: [Rendition]

  public var startIndex: Int { 0 }
  public var endIndex: Int { renditions.count }
  public subscript(index: Int) -> Rendition { renditions[index] }

  /// Creates a ladder from the renditions that are worth their bit rate. The ladder is empty if
  /// there are none.
  ///
  /// Leaves out:
  /// - renditions above `maximumBitRate` or without a positive, finite bit rate,
  /// - stereo renditions whose bit rate is not below that of the cheapest multichannel rendition,
  /// - renditions with neither a lower bit rate nor a higher score than another rendition of the
  ///   same treatment. If a rendition of that treatment has no score, the bit rates are used as
  ///   scores.
  ///
  /// - Parameters:
  ///   - maximumBitRate: in bit/s.
  ///   - preference: `.stereo` leaves out multichannel if a stereo rendition is within the maximum.
  public init(
    _ renditions: some Sequence<Rendition>, maximumBitRate: Double = .infinity,
    prefer preference: TreatmentPreference = .multichannel
  ) {
    let usable = renditions.filter { $0.bitRate.isFinite && $0.bitRate > 0 }
    let wanted = Self.preferred(usable, preference)
    let affordable = wanted.filter { $0.bitRate <= maximumBitRate }
    // The other treatment is better than silence.
    let kept = affordable.isEmpty ? usable.filter { $0.bitRate <= maximumBitRate } : affordable
    let multichannel = Self.worthwhile(kept.filter(\.isMultichannel))
    let ceiling = multichannel.first?.bitRate ?? .infinity
    let stereo = Self.worthwhile(kept.filter { !$0.isMultichannel && $0.bitRate < ceiling })
    self.renditions = stereo + multichannel
  }

  /// The number of the cheapest multichannel rendition; nil if there is none.
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
