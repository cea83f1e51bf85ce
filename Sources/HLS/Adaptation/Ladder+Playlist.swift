// SPDX-License-Identifier: Apache-2.0

extension Ladder {
  /// Creates a ladder from the renditions of a multivariant playlist.
  ///
  /// Uses BINAURAL sound only if there is no other sound, because BINAURAL sound cannot turn with
  /// the head.
  ///
  /// - Parameters:
  ///   - language: a language tag (RFC 5646). If it is nil or no rendition matches it, the
  ///     presentation's default language is used.
  ///   - maximumBitRate: in bit/s.
  ///   - canDecode: returns whether a codec (named as in RFC 6381) can be decoded. Variants with an
  ///     audio codec that cannot be decoded are left out.
  public init(
    from playlist: MultivariantPlaylist, language: String? = nil,
    maximumBitRate: Double = .infinity, prefer preference: TreatmentPreference = .multichannel,
    canDecode: (String) -> Bool = AudioCodec.isDecodable
  ) {
    let wanted = SpokenLanguage(of: playlist, wanted: language)
    var carriers: [AudioCarrier] = []
    for variant in playlist.variantsByPathway {
      let codecs = variant.codecs.filter(AudioCodec.isAudio)
      guard codecs.allSatisfy(canDecode),
        variant.codecs.isEmpty || variant.audioGroup != nil || !codecs.isEmpty
      else { continue }
      carriers += AudioCarrier.carriers(of: variant, codec: codecs.first, wanted, playlist)
    }
    if carriers.contains(where: { !$0.isBinaural }) { carriers.removeAll(where: \.isBinaural) }
    carriers = AudioCarrier.withAlternatives(carriers)
    self.init(
      AudioCarrier.cheapest(carriers).map(\.rendition), maximumBitRate: maximumBitRate,
      prefer: preference)
  }
}

/// The language whose renditions are selected.
struct SpokenLanguage {
  /// The language tag; nil accepts every language.
  let tag: String?

  private init() { tag = nil }

  static let any = SpokenLanguage()

  /// Uses the wanted language if a rendition matches it. Otherwise uses the presentation's default
  /// language.
  ///
  /// The default language is that of one rendition of the first variant with audio renditions: the
  /// default rendition, or else the first one with AUTOSELECT=YES, or else the first one.
  init(of playlist: MultivariantPlaylist, wanted: String?) {
    if let wanted, playlist.renditions.contains(where: { Self.matches($0.language, wanted) }) {
      tag = wanted
      return
    }
    let first = playlist.variants.lazy.compactMap { variant -> RenditionEntry? in
      let group = playlist.renditions(of: variant)
      return group.first(where: \.isDefault) ?? group.first(where: \.isAutoselected) ?? group.first
    }.first
    tag = first?.language
  }

  /// Returns the usable renditions of an audio group, at most one for each CHANNELS value. Prefers
  /// default renditions.
  ///
  /// A usable rendition is in this language or states no language. Renditions for accessibility are
  /// usable only if there are no others. Of the rest, renditions with neither DEFAULT=YES nor
  /// AUTOSELECT=YES are usable only if there are no others.
  func choose(_ group: [RenditionEntry]) -> [RenditionEntry] {
    var own = group.filter { rendition in
      guard let tag else { return true }
      return rendition.language == nil || Self.matches(rendition.language, tag)
    }
    for isWanted in [\RenditionEntry.isPlain, \.isAutoselected] {
      if own.contains(where: { $0[keyPath: isWanted] }) {
        own.removeAll { !$0[keyPath: isWanted] }
      }
    }
    var chosen: [RenditionEntry] = []
    for rendition in own.filter(\.isDefault) + own.filter({ !$0.isDefault })
    where !chosen.contains(where: { $0.channels == rendition.channels }) {
      chosen.append(rendition)
    }
    return chosen
  }

  /// Whether the tags are equal, or one extends the other with subtags, as "en-GB" extends "en".
  /// Ignores case.
  static func matches(_ language: String?, _ wanted: String) -> Bool {
    guard let first = language?.lowercased() else { return false }
    let second = wanted.lowercased()
    return first == second || first.hasPrefix(second + "-") || second.hasPrefix(first + "-")
  }
}

extension MultivariantPlaylist {
  /// The variants in the order of their pathways: first the pathways from the steering manifest, or
  /// `firstPathway` if there is no manifest; then all other pathways.
  fileprivate var variantsByPathway: [Variant] {
    let order = pathways.isEmpty ? [firstPathway].compactMap(\.self) : pathways
    func rank(_ variant: Variant) -> Int {
      order.firstIndex(of: variant.pathway ?? ".") ?? order.count
    }
    return (0...order.count).flatMap { place in variants.filter { rank($0) == place } }
  }

  /// The URIs of redundant media playlists, by the URI of the playlist to use first.
  ///
  /// Includes playlists with codecs that cannot be decoded. Of an audio group, includes only the
  /// renditions that `SpokenLanguage.any` chooses.
  var redundantPlaylists: [String: [String]] {
    let any = SpokenLanguage.any
    let carriers = variantsByPathway.flatMap { variant in
      AudioCarrier.carriers(
        of: variant, codec: variant.codecs.first(where: AudioCodec.isAudio), any, self)
    }
    let kept = AudioCarrier.withAlternatives(carriers).map(\.rendition)
    return Dictionary(kept.map { ($0.uri, $0.alternatives) }, uniquingKeysWith: { $0 + $1 })
  }
}

extension RenditionEntry {
  /// False if the rendition is for accessibility, such as an audio description.
  fileprivate var isPlain: Bool {
    !characteristics.contains { $0.hasPrefix("public.accessibility") }
  }
}
