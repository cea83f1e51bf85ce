// SPDX-License-Identifier: Apache-2.0

/// What is known of a rendition that is kept: what the kept multivariant playlist will say of it.
///
/// Two of one `uri` are the same rendition.
public struct KeptRendition: Sendable, Equatable, Codable {
  /// As the presentation names its media playlist.
  public var uri: String
  public var name: String
  /// The audio group; renditions of one group and of the same codecs stay together.
  public var group: String?
  /// A language tag (RFC 5646).
  public var language: String?
  /// The CHANNELS attribute, such as `6` or `4/1OA`.
  public var channelText: String?
  public var characteristics: [String] = []
  public var isDefault = false
  public var isAutoselected = false
  /// As RFC 6381 names them.
  public var codecs: [String] = []
  /// Pictures in the same segments: width and height.
  public var resolution: [Int] = []
  /// bit/s, as far as the presentation tells; 0 where it does not. What is written is measured.
  public var bitRate = 0.0
  public var score: Double?

  /// Its channels, as far as the presentation tells.
  public var channels: AudioChannels? { channelText.flatMap(AudioChannels.init) }
}

extension KeptRendition {
  /// What a multivariant playlist tells of a rendition.
  public init(_ rendition: Rendition, in playlist: MultivariantPlaylist) {
    self.init(uri: rendition.uri, bitRate: rendition.bitRate, in: playlist)
    if channelText == nil { channelText = rendition.channels.map { "\($0)" } }
    score = rendition.score ?? score
  }

  /// All that a presentation has to hear: its audio renditions, and variants without pictures whose
  /// sound is in their own segments; where there is neither, the cheapest carriers of each kind of
  /// sound.
  public static func all(in playlist: MultivariantPlaylist) -> [KeptRendition] {
    var uris: [String] = []
    for uri in playlist.renditions.compactMap(\.uri) where !uris.contains(uri) { uris.append(uri) }
    for variant in playlist.variants where !variant.hasPictures && !uris.contains(variant.uri) {
      let isCarrier = !playlist.renditions(of: variant).contains { $0.uri != nil }
      if isCarrier { uris.append(variant.uri) }
    }
    let all = uris.map { KeptRendition(uri: $0, bitRate: nil, in: playlist) }
    guard all.isEmpty else { return all }
    return Ladder(from: playlist).map { KeptRendition($0, in: playlist) }
  }

  private init(uri: String, bitRate: Double?, in playlist: MultivariantPlaylist) {
    let own = playlist.variants.filter { $0.uri == uri }
    let entry =
      playlist.renditions.first { $0.uri == uri }
      ?? own.lazy.compactMap { variant in
        playlist.renditions(of: variant).first { $0.uri == nil }
      }.first
    // The variant that has it with the fewest bits besides.
    let carriers =
      own.isEmpty ? playlist.variants.filter { $0.audioGroup == entry?.group } : own
    func rate(_ variant: Variant) -> Int { variant.averageBandwidth ?? variant.bandwidth }
    let carrier = carriers.min { rate($0) < rate($1) }
    self.init(uri: uri, name: entry?.name ?? own.first?.name ?? "")
    group = entry?.group
    language = entry?.language
    channelText = entry?.channels?.text
    characteristics = entry?.characteristics ?? []
    isDefault = entry?.isDefault ?? false
    isAutoselected = entry?.isAutoselected ?? false
    let isVariant = !own.isEmpty
    codecs = carrier?.codecs.filter { isVariant || AudioCodec.isAudio($0) } ?? []
    if isVariant, let size = carrier?.resolution { resolution = [size.width, size.height] }
    score = carrier?.score
    let told = Double(carrier.map(rate) ?? 0)
    let isAlone = isVariant || carrier?.hasPictures == false
    self.bitRate = bitRate ?? (isAlone ? told : 0)
  }
}

extension KeptRendition {
  /// A folder's name that tells a person what is in it.
  var label: String {
    var text =
      switch channels?.count {
      case nil: "audio"
      case 1: "mono"
      case 2: "stereo"
      case let count?: "\(count)ch"
      }
    if bitRate >= 1000 { text += "-\(Int(min(bitRate, 1e12) / 1000))k" }
    let tag = (language ?? "").lowercased().prefix(12).filter { character in
      character.isASCII && (character.isLetter || character.isNumber)
    }
    return tag.isEmpty ? text : text + "-" + tag
  }

  /// Whether what was kept under another address of the same presentation is this rendition:
  /// servers put words into addresses that change from day to day.
  func isLikely(_ other: KeptRendition) -> Bool {
    uri.withoutQuery == other.uri.withoutQuery && name == other.name && group == other.group
      && language == other.language && channelText == other.channelText && codecs == other.codecs
  }
}

extension String {
  /// An address up to its query or fragment.
  var withoutQuery: String { String(prefix { $0 != "?" && $0 != "#" }) }

  /// An address without the name and the password in it.
  var withoutUser: String {
    guard let start = firstRange(of: "://")?.upperBound else { return self }
    let host = self[start...].prefix { $0 != "/" }
    guard let mark = host.lastIndex(of: "@") else { return self }
    return String(self[..<start] + self[index(after: mark)...])
  }
}
