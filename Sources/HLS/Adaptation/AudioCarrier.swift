// SPDX-License-Identifier: Apache-2.0

/// A media playlist that carries a kind of sound, alone or together with video.
struct AudioCarrier {
  var rendition: Rendition
  var isBinaural: Bool
  var hasPictures: Bool
  /// Carriers of the same kind carry the same sound. Nil: no other carrier has its kind.
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

  /// Describes the sound of a variant, or of one entry of its audio group.
  ///
  /// - Parameter entry: an entry without a playlist is in the variant's own segments. If it has a
  ///   playlist, only a variant without video states its bit rate; otherwise the bit rate is
  ///   guessed.
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

  /// Returns the best carrier of each kind: a stated bit rate before a guessed one, then the
  /// lowest. Carriers with video are kept only if no carrier without video offers their treatment.
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
