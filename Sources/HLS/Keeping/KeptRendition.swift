// SPDX-License-Identifier: Apache-2.0

/// The properties of a rendition that has been or can be kept. Values with the same `uri` describe
/// the same rendition.
public struct KeptRendition: Sendable, Equatable, Codable {
  /// URI of the media playlist, as the multivariant playlist states it. Without a multivariant
  /// playlist, this is the address of the media playlist or the last component of the address.
  public var uri: String
  public var name: String
  /// The audio group in the presentation; nil if there is none.
  public var group: String?
  /// A language tag (RFC 5646); nil if it is not stated.
  public var language: String?
  /// The CHANNELS attribute, such as `6` or `4/1OA`. If the attribute is missing, this is the
  /// number of channels of the `Rendition`, if known; otherwise nil.
  public var channelText: String?
  public var characteristics: [String] = []
  public var isDefault = false
  public var isAutoselected = false
  /// Codec names as in RFC 6381.
  public var codecs: [String] = []
  /// Width and height of the video in the segments, in pixels; empty if not stated.
  public var resolution: [Int] = []
  /// Bit rate in bit/s: stated by the playlist, guessed from the codec or measured. 0 if unknown.
  public var bitRate = 0.0
  public var score: Double?

  /// The parsed `channelText`; nil if it is missing or invalid.
  public var channels: AudioChannels? { channelText.flatMap(AudioChannels.init) }
}

extension KeptRendition {
  /// Takes the properties from a multivariant playlist and a rendition of its `Ladder`.
  public init(_ rendition: Rendition, in playlist: MultivariantPlaylist) {
    self.init(uri: rendition.uri, bitRate: rendition.bitRate, in: playlist)
    if channelText == nil { channelText = rendition.channels.map { "\($0)" } }
    score = rendition.score ?? score
  }

  /// Returns the audio renditions with their own playlists, and the variants without video whose
  /// segments contain the sound. If there are none, returns the renditions of the `Ladder`.
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
    // Several variants may use this rendition. Take the codecs, resolution, score and bit rate from
    // the variant with the lowest bit rate.
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
  /// A folder name that describes the rendition, such as `stereo-128k-en`.
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

  /// Whether `other` is probably this rendition, with another query in its address. On some
  /// servers, the query changes from day to day.
  func isLikely(_ other: KeptRendition) -> Bool {
    uri.withoutQuery == other.uri.withoutQuery && name == other.name && group == other.group
      && language == other.language && channelText == other.channelText && codecs == other.codecs
  }
}

extension String {
  /// The address without query and fragment.
  var withoutQuery: String { String(prefix { $0 != "?" && $0 != "#" }) }

  /// The address without user name and password.
  var withoutUser: String {
    guard let start = firstRange(of: "://")?.upperBound else { return self }
    let host = self[start...].prefix { $0 != "/" }
    guard let mark = host.lastIndex(of: "@") else { return self }
    return String(self[..<start] + self[index(after: mark)...])
  }
}
