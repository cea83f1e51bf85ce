// SPDX-License-Identifier: Apache-2.0

extension Ladder {
  /// Chooses the renditions of a multivariant playlist in one language.
  ///
  /// For each kind of sound it takes the cheapest carrier: the rendition's own playlist, or the
  /// variant with the lowest bit rate whose segments contain the sound. Sound that is marked as
  /// BINAURAL was made for headphones already. It becomes a rendition only if there is nothing
  /// else.
  ///
  /// - Parameters:
  ///   - language: a language tag (RFC 5646). If it is nil or nothing matches it, the
  ///     presentation's default language is used.
  ///   - maximumBitRate: upper limit in bit/s.
  ///   - preference: the preferred treatment.
  ///   - canDecode: whether a codec (RFC 6381) can be decoded.
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

/// Selects the renditions of one language.
struct SpokenLanguage {
  /// The language tag; nil if the presentation names none.
  let tag: String?

  /// Uses the wanted language if a rendition has it, or else that of the first variant's default
  /// rendition.
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

  /// Returns the renditions of a group to use: one for each CHANNELS value. Leaves out those that
  /// only a user may select, such as commentary, if there are others.
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

  /// Whether two tags are the same language: one may be a subtag of the other, as "en" and "en-GB".
  private static func matches(_ language: String?, _ wanted: String) -> Bool {
    guard let first = language?.lowercased() else { return false }
    let second = wanted.lowercased()
    return first == second || first.hasPrefix(second + "-") || second.hasPrefix(first + "-")
  }
}

extension RenditionEntry {
  /// Whether it is neither an audio description nor made for other special needs.
  fileprivate var isPlain: Bool {
    !characteristics.contains { $0.hasPrefix("public.accessibility") }
  }
}
