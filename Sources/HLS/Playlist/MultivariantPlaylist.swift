// SPDX-License-Identifier: Apache-2.0

/// The variants and renditions of a presentation (RFC 8216, section 4.3.4).
public struct MultivariantPlaylist: Sendable, Equatable {
  public var version = 1
  public var areSegmentsIndependent = false
  public var start: PlaylistStart?
  /// In the order in which they stand there.
  public var variants: [Variant] = []
  /// Of audio only.
  public var renditions: [RenditionEntry] = []
  /// For the media playlists that import them.
  public var variables = PlaylistVariables()

  /// The renditions of a variant's audio group.
  public func renditions(of variant: Variant) -> [RenditionEntry] {
    renditions.filter { $0.group == variant.audioGroup }
  }
}

/// A version of the whole presentation.
public struct Variant: Sendable, Equatable {
  /// Of pictures.
  public struct Resolution: Sendable, Equatable {
    var width: Int
    var height: Int
  }

  public var uri: String
  /// Peak, bit/s, of everything that is played with it.
  public var bandwidth: Int
  /// bit/s.
  public var averageBandwidth: Int?
  /// As RFC 6381 names them.
  public var codecs: [String] = []
  public var resolution: Resolution?
  public var audioGroup: String?
  /// The provider's preference: the higher the better.
  public var score: Double?
  public var stableID: String?
  public var name: String?

  /// Whether it holds pictures, as far as it tells.
  public var hasPictures: Bool {
    if resolution != nil { return true }
    let families = ["avc", "hvc", "hev", "dvh", "av01", "vp08", "vp09", "mp4v"]
    return codecs.contains { codec in families.contains { codec.hasPrefix($0) } }
  }
}

/// One of the alternatives of an audio group (`EXT-X-MEDIA:TYPE=AUDIO`).
public struct RenditionEntry: Sendable, Equatable {
  public var group: String
  public var name: String
  /// Nil: it is within the variants' own segments.
  public var uri: String?
  /// A language tag (RFC 5646).
  public var language: String?
  public var isDefault = false
  public var isAutoselected = false
  public var channels: AudioChannels?
  public var characteristics: [String] = []
  public var stableID: String?
  /// Hz.
  public var sampleRate: Int?
}

/// The CHANNELS attribute: a count, coding identifiers, usage (RFC 8216bis, section 4.4.6.1).
public struct AudioChannels: Sendable, Equatable {
  public var count: Int
  /// Such as `JOC`, or `-` for none; an order such as `3OA` for ambisonics.
  public var codings: [String] = []
  /// `BINAURAL`, `IMMERSIVE`, `DOWNMIX`.
  public var usages: [String] = []

  /// The attribute's value.
  public var text: String {
    var parts = ["\(count)"]
    if !codings.isEmpty || !usages.isEmpty {
      parts.append(codings.isEmpty ? "-" : codings.joined(separator: ","))
    }
    if !usages.isEmpty { parts.append(usages.joined(separator: ",")) }
    return parts.joined(separator: "/")
  }

  /// It is meant for headphones already, and must not be made spatial again.
  public var isBinaural: Bool { usages.contains("BINAURAL") }
}

extension AudioChannels {
  /// Nil where it does not begin with a count.
  init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard let count = parts.first.flatMap(PlaylistNumber.integer), (1...1024).contains(count)
    else { return nil }
    let lists = parts.dropFirst().map { part in
      part.split(separator: ",").map(String.init).filter { $0 != "-" }
    }
    self.init(count: count, codings: lists.first ?? [], usages: lists.dropFirst().first ?? [])
  }
}
