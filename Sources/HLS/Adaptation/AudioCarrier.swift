// SPDX-License-Identifier: Apache-2.0

/// A media playlist that has to be fetched to hear a kind of sound.
struct AudioCarrier {
  var tier: Tier
  var isBinaural: Bool
  var hasPictures: Bool
  /// Carriers of one kind sound the same; nil: it is the only one of its kind.
  var kind: String?

  static func carriers(
    of variant: Variant, codec: String?, _ language: SpokenLanguage,
    _ playlist: MultivariantPlaylist
  ) -> [AudioCarrier] {
    let group = playlist.renditions(of: variant)
    guard variant.audioGroup != nil, !group.isEmpty else {
      return [carrier(within: variant, codec: codec, rendition: nil)]
    }
    return language.choose(group).map { rendition in
      guard let uri = rendition.uri else {
        return carrier(within: variant, codec: codec, rendition: rendition)
      }
      return carrier(uri, variant, codec: codec, rendition)
    }
  }

  /// Sound in the variant's own segments.
  private static func carrier(
    within variant: Variant, codec: String?, rendition: AudioRendition?
  ) -> AudioCarrier {
    let count = rendition?.channels?.count ?? AudioCodec.usualChannels(codec)
    let tier = Tier(
      uri: variant.uri, bitRate: Double(variant.averageBandwidth ?? variant.bandwidth),
      isMultichannel: count > 2, score: variant.score, channels: count)
    let name = "\(variant.audioGroup ?? "")/\(codec ?? "")/\(count)"
    return AudioCarrier(
      tier: tier, isBinaural: rendition?.channels?.isBinaural ?? false,
      hasPictures: variant.hasPictures, kind: variant.hasPictures ? name : nil)
  }

  /// Sound with a playlist of its own. A variant without pictures tells its bit rate.
  private static func carrier(
    _ uri: String, _ variant: Variant, codec: String?, _ rendition: AudioRendition
  ) -> AudioCarrier {
    let count = rendition.channels?.count ?? AudioCodec.usualChannels(codec)
    let rate = Double(variant.averageBandwidth ?? variant.bandwidth)
    let isAlone = uri == variant.uri || (!variant.hasPictures && !variant.codecs.isEmpty)
    let tier = Tier(
      uri: uri,
      bitRate: isAlone ? rate : min(rate, AudioCodec.usualBitRate(codec, channels: count)),
      isMultichannel: count > 2, score: variant.score, channels: count, isGuessed: !isAlone)
    return AudioCarrier(
      tier: tier, isBinaural: rendition.channels?.isBinaural ?? false, hasPictures: false, kind: uri
    )
  }

  /// Of each kind the carrier whose rate is told rather than guessed, and then the cheapest. Pictures
  /// are fetched only where a treatment is not to be had without.
  static func cheapest(_ carriers: [AudioCarrier]) -> [AudioCarrier] {
    var kept: [AudioCarrier] = []
    for carrier in carriers {
      let place = kept.firstIndex { other in
        other.tier.uri == carrier.tier.uri || (other.kind != nil && other.kind == carrier.kind)
      }
      guard let place else {
        kept.append(carrier)
        continue
      }
      let score = [kept[place].tier.score, carrier.tier.score].compactMap(\.self).max()
      if carrier.isBetter(than: kept[place]) { kept[place] = carrier }
      kept[place].tier.score = score
    }
    return kept.filter { carrier in
      !carrier.hasPictures
        || !kept.contains {
          !$0.hasPictures && $0.tier.isMultichannel == carrier.tier.isMultichannel
        }
    }
  }

  private func isBetter(than other: AudioCarrier) -> Bool {
    tier.isGuessed == other.tier.isGuessed
      ? tier.bitRate < other.tier.bitRate : other.tier.isGuessed
  }
}
