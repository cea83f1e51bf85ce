// SPDX-License-Identifier: Apache-2.0

/// A media playlist that contains a version of the sound, with or without video.
struct AudioCarrier {
  var rendition: Rendition
  var isBinaural: Bool
  var hasPictures: Bool
  /// Carriers with the same non-nil `kind` are assumed to contain the same sound.
  var kind: String?
  /// Identifies the content. Carriers with the same value have the same content, for example on
  /// different hosts or pathways.
  ///
  /// This is the stable identifier and the CHANNELS attribute. Without an identifier, it is the
  /// attributes that redundant variants share (RFC 8216, section 6.2.4).
  var content: [String]

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

  /// Creates the carrier of a variant or of one entry of its audio group.
  ///
  /// If the variant states no bit rate, or its bit rate may include video that is not fetched, the
  /// bit rate is guessed from the codec. The guess never exceeds a stated bit rate.
  ///
  /// - Parameter entry: nil if the variant has no audio group with entries.
  private init(_ variant: Variant, codec: String?, _ entry: RenditionEntry? = nil) {
    let count = entry?.channels?.count ?? AudioCodec.usualChannels(codec)
    let told = Double(variant.averageBandwidth ?? variant.bandwidth)
    let usual = AudioCodec.usualBitRate(codec, channels: count)
    let rate = told > 0 ? told : usual
    let uri = entry?.uri ?? variant.uri
    let isOwn = uri == variant.uri || (!variant.hasPictures && !variant.codecs.isEmpty)
    let isTold = isOwn && told > 0
    rendition = Rendition(
      uri: uri, bitRate: isTold ? rate : min(rate, usual),
      isMultichannel: count > 2, score: variant.score, channels: count, isGuessed: !isTold)
    isBinaural = entry?.channels?.isBinaural ?? false
    hasPictures = entry?.uri == nil && variant.hasPictures
    kind =
      entry?.uri
      ?? (hasPictures ? "\(variant.audioGroup ?? "")/\(codec ?? "")/\(count)" : nil)
    content = Self.content(of: variant, entry)
  }

  private static func content(of variant: Variant, _ entry: RenditionEntry?) -> [String] {
    let own = entry?.uri == nil ? variant.stableID : entry?.stableID
    if let own { return [own, entry?.channels?.text ?? ""] }
    let size = variant.resolution.map { "\($0.width)x\($0.height)" } ?? ""
    let rates = ["\(variant.bandwidth)", variant.averageBandwidth.map { "\($0)" } ?? ""]
    let names = [variant.name, entry?.name, entry?.language, entry?.channels?.text]
    return rates + [size, variant.codecs.joined(separator: ",")] + names.map { $0 ?? "" }
      + (entry?.characteristics ?? [])
  }

  /// Merges carriers with the same content at different addresses. Keeps the first one, to which
  /// the addresses of the others are added as alternatives.
  static func withAlternatives(_ carriers: [AudioCarrier]) -> [AudioCarrier] {
    var kept: [AudioCarrier] = []
    for carrier in carriers {
      let uri = carrier.rendition.uri
      let twin = kept.firstIndex { $0.content == carrier.content && $0.rendition.bitRate > 0 }
      guard let twin, kept[twin].rendition.uri != uri else {
        kept.append(carrier)
        continue
      }
      if !kept[twin].rendition.alternatives.contains(uri) {
        kept[twin].rendition.alternatives.append(uri)
      }
    }
    return kept
  }

  /// Returns the best carrier for each version of the sound. Leaves out carriers with video if
  /// carriers without video offer the same treatment.
  ///
  /// A carrier with a stated bit rate is better than one with a guessed bit rate. Otherwise, the
  /// carrier with the lower bit rate is better. The best carrier gets the highest score of all
  /// carriers of its version.
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
