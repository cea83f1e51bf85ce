// SPDX-License-Identifier: Apache-2.0

extension Ladder {
  /// Creates a ladder for one language from the renditions of a multivariant playlist.
  ///
  /// Each version of the sound is fetched from a single playlist, which `AudioCarrier.cheapest`
  /// selects: the rendition's own playlist, or that of a variant whose segments contain the sound.
  /// Sound that is marked as BINAURAL was made for headphones, so it is used only if there is
  /// nothing else.
  ///
  /// - Parameters:
  ///   - language: a language tag (RFC 5646). If it is nil or no rendition matches it, the
  ///     presentation's default language is used.
  ///   - maximumBitRate: upper limit in bit/s.
  ///   - preference: the preferred treatment.
  ///   - canDecode: returns whether a codec (named as in RFC 6381) can be decoded. Variants with an
  ///     audio codec that cannot be decoded are left out.
  public init(
    from playlist: MultivariantPlaylist, language: String? = nil,
    maximumBitRate: Double = .infinity, prefer preference: TreatmentPreference = .multichannel,
    canDecode: (String) -> Bool = AudioCodec.isDecodable
  ) {
    let wanted = SpokenLanguage(of: playlist, wanted: language)
    var carriers: [AudioCarrier] = []
    for variant in playlist.variants {
      let codecs = variant.codecs.filter(AudioCodec.isAudio)
      guard codecs.allSatisfy(canDecode),
        variant.codecs.isEmpty || variant.audioGroup != nil || !codecs.isEmpty
      else { continue }
      carriers += AudioCarrier.carriers(of: variant, codec: codecs.first, wanted, playlist)
    }
    if carriers.contains(where: { !$0.isBinaural }) { carriers.removeAll(where: \.isBinaural) }
    self.init(
      AudioCarrier.cheapest(carriers).map(\.rendition), maximumBitRate: maximumBitRate,
      prefer: preference)
  }
}

/// The language whose renditions are selected.
struct SpokenLanguage {
  /// The language tag; nil if there is no audio rendition or the default rendition states no
  /// language. If the tag is nil, every language is accepted.
  let tag: String?

  /// Uses the wanted language if a rendition matches it. Otherwise uses the language of the first
  /// variant that has audio renditions: that of its default rendition, or else of its first
  /// rendition with AUTOSELECT=YES, or else of its first rendition.
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

  /// Returns the usable renditions of an audio group: one for each CHANNELS value, in this language
  /// or without a stated language. Default renditions are preferred. Audio descriptions and similar
  /// renditions are left out if any others exist. Of the remaining renditions, those that only the
  /// user may select, such as commentary, are left out if any others exist.
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

  /// Whether a language tag matches the wanted tag: the tags are equal, or one tag extends the
  /// other by subtags, as "en-GB" extends "en". Case is ignored. False if `language` is nil.
  private static func matches(_ language: String?, _ wanted: String) -> Bool {
    guard let first = language?.lowercased() else { return false }
    let second = wanted.lowercased()
    return first == second || first.hasPrefix(second + "-") || second.hasPrefix(first + "-")
  }
}

extension RenditionEntry {
  /// Whether the rendition is neither an audio description nor made for other accessibility needs.
  fileprivate var isPlain: Bool {
    !characteristics.contains { $0.hasPrefix("public.accessibility") }
  }
}
