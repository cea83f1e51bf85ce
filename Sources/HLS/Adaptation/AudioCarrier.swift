// SPDX-License-Identifier: Apache-2.0

/// A media playlist that has to be fetched to hear a kind of sound.
struct AudioCarrier {
  var rendition: Rendition
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
      return [AudioCarrier(variant, codec: codec)]
    }
    return language.choose(group).map { AudioCarrier(variant, codec: codec, $0) }
  }

  /// - Parameter entry: with no playlist of its own its sound is in the variant's segments. Where
  ///   it has one, a variant without pictures tells its bit rate.
  private init(_ variant: Variant, codec: String?, _ entry: RenditionEntry? = nil) {
    let count = entry?.channels?.count ?? AudioCodec.usualChannels(codec)
    let rate = Double(variant.averageBandwidth ?? variant.bandwidth)
    let uri = entry?.uri ?? variant.uri
    let isTold = uri == variant.uri || (!variant.hasPictures && !variant.codecs.isEmpty)
    rendition = Rendition(
      uri: uri,
      bitRate: isTold ? rate : min(rate, AudioCodec.usualBitRate(codec, channels: count)),
      isMultichannel: count > 2, score: variant.score, channels: count, isGuessed: !isTold)
    isBinaural = entry?.channels?.isBinaural ?? false
    hasPictures = entry?.uri == nil && variant.hasPictures
    kind =
      entry?.uri
      ?? (hasPictures ? "\(variant.audioGroup ?? "")/\(codec ?? "")/\(count)" : nil)
  }

  /// Of each kind the carrier whose rate is told rather than guessed, and then the cheapest.
  /// Pictures are fetched only where a treatment is not to be had without.
  static func cheapest(_ carriers: [AudioCarrier]) -> [AudioCarrier] {
    var kept: [AudioCarrier] = []
    for carrier in carriers {
      let place = kept.firstIndex { other in
        other.rendition.uri == carrier.rendition.uri
          || (other.kind != nil && other.kind == carrier.kind)
      }
      guard let place else {
        kept.append(carrier)
        continue
      }
      let score = [kept[place].rendition.score, carrier.rendition.score].compactMap(\.self).max()
      if carrier.isBetter(than: kept[place]) { kept[place] = carrier }
      kept[place].rendition.score = score
    }
    return kept.filter { carrier in
      !carrier.hasPictures
        || !kept.contains {
          !$0.hasPictures && $0.rendition.isMultichannel == carrier.rendition.isMultichannel
        }
    }
  }

  private func isBetter(than other: AudioCarrier) -> Bool {
    rendition.isGuessed == other.rendition.isGuessed
      ? rendition.bitRate < other.rendition.bitRate : other.rendition.isGuessed
  }
}
