// SPDX-License-Identifier: Apache-2.0

/// One of the versions of a presentation's sound between which the line decides.
public struct Tier: Sendable, Equatable {
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

/// What `--prefer` means.
public enum TreatmentPreference: String, Sendable, CaseIterable {
  /// Multichannel whenever the line carries it.
  case multichannel
  /// Stereo even if the line carries more.
  case stereo
}

/// The tiers that are worth fetching, the cheapest first: stereo, then multichannel.
public struct Ladder: Sendable, Equatable {
  public let tiers: [Tier]

  /// Leaves out what is never worth its bits: a tier above `maximumBitRate`; a stereo tier that
  /// costs as much as a multichannel one; a tier that costs more than one of the same treatment and
  /// has no better score. It is empty when nothing is below the maximum.
  ///
  /// - Parameter maximumBitRate: bit/s.
  public init(
    _ tiers: [Tier], maximumBitRate: Double = .infinity,
    prefer preference: TreatmentPreference = .multichannel
  ) {
    let usable = tiers.filter { $0.bitRate.isFinite && $0.bitRate > 0 }
    let wanted = Self.preferred(usable, preference)
    let affordable = wanted.filter { $0.bitRate <= maximumBitRate }
    // What is not wanted is better than silence.
    let kept = affordable.isEmpty ? usable.filter { $0.bitRate <= maximumBitRate } : affordable
    let multichannel = Self.worthwhile(kept.filter(\.isMultichannel))
    let ceiling = multichannel.first?.bitRate ?? .infinity
    let stereo = Self.worthwhile(kept.filter { !$0.isMultichannel && $0.bitRate < ceiling })
    self.tiers = stereo + multichannel
  }

  /// The cheapest multichannel tier.
  public var firstMultichannel: Int? { tiers.firstIndex(where: \.isMultichannel) }

  private static func preferred(_ tiers: [Tier], _ preference: TreatmentPreference) -> [Tier] {
    let stereo = tiers.filter { !$0.isMultichannel }
    return preference == .stereo && !stereo.isEmpty ? stereo : tiers
  }

  private static func worthwhile(_ tiers: [Tier]) -> [Tier] {
    let areScored = tiers.allSatisfy { $0.score != nil }
    func value(_ tier: Tier) -> Double { areScored ? tier.score ?? 0 : tier.bitRate }
    var kept: [Tier] = []
    let ordered = tiers.sorted { ($0.bitRate, -value($0)) < ($1.bitRate, -value($1)) }
    for tier in ordered where kept.last.map({ value(tier) > value($0) }) ?? true {
      kept.append(tier)
    }
    return kept
  }
}
