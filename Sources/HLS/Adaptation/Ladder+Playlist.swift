// SPDX-License-Identifier: Apache-2.0

extension Ladder {
  /// The renditions that a multivariant playlist offers in one language.
  ///
  /// Of each kind of sound the cheapest carrier is taken: the rendition's own playlist, or the
  /// variant with the fewest bits in whose segments it lies. Sound that is marked as BINAURAL is
  /// made for headphones already; it is a rendition only where there is nothing else.
  ///
  /// - Parameters:
  ///   - language: a language tag (RFC 5646); `nil`, and one that nothing matches, is what the
  ///     presentation begins with.
  ///   - maximumBitRate: bit/s.
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

/// Which of several languages is to be heard.
struct SpokenLanguage {
  /// Nil: the presentation names none.
  let tag: String?

  /// The wanted one where there is such a rendition, else that of the first variant.
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

  /// The renditions of a group that are to be heard: of each count of channels one. Those that are
  /// chosen by hand only, such as comments, are left out where there are others.
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

  /// "en" and "en-GB" are one language; so are they the other way round.
  private static func matches(_ language: String?, _ wanted: String) -> Bool {
    guard let first = language?.lowercased() else { return false }
    let second = wanted.lowercased()
    return first == second || first.hasPrefix(second + "-") || second.hasPrefix(first + "-")
  }
}

extension RenditionEntry {
  /// It is not a description of pictures, nor otherwise for special needs.
  fileprivate var isPlain: Bool {
    !characteristics.contains { $0.hasPrefix("public.accessibility") }
  }
}
