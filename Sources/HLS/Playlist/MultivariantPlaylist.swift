// SPDX-License-Identifier: Apache-2.0

/// The variants and renditions of a presentation (RFC 8216, section 4.3.4).
public struct MultivariantPlaylist: Sendable, Equatable {
  public var version = 1
  public var areSegmentsIndependent = false
  public var start: PlaylistStart?
  /// The variants, in the order in which the playlist lists them.
  public var variants: [Variant] = []
  /// The pathway to use first (PATHWAY-ID of `EXT-X-CONTENT-STEERING`); nil if it is not stated.
  public var firstPathway: String?
  /// The address of the steering manifest (SERVER-URI of `EXT-X-CONTENT-STEERING`); nil if it is
  /// not stated.
  public var steeringServer: String?
  /// The pathways from the steering manifest, in order of preference; empty if no valid manifest
  /// was read.
  public var pathways: [String] = []
  /// Notes for the listener, about missing or invalid values and about an unusable steering
  /// manifest.
  public var notes: [String] = []
  /// The audio renditions.
  public var renditions: [RenditionEntry] = []
  /// The variables that media playlists can import.
  public var variables = PlaylistVariables()

  /// Returns the audio renditions in a variant's group; empty if the variant has no audio group.
  public func renditions(of variant: Variant) -> [RenditionEntry] {
    renditions.filter { $0.group == variant.audioGroup }
  }
}

/// A version of the complete presentation (`EXT-X-STREAM-INF`).
public struct Variant: Sendable, Equatable {
  /// Size of the video, in pixels.
  public struct Resolution: Sendable, Equatable {
    var width: Int
    var height: Int
  }

  public var uri: String
  /// Peak bit rate of the variant including its renditions, in bit/s; 0 if missing or invalid.
  public var bandwidth: Int
  /// Average bit rate of the variant including its renditions, in bit/s; nil if missing or invalid.
  public var averageBandwidth: Int?
  /// Codec names as in RFC 6381.
  public var codecs: [String] = []
  public var resolution: Resolution?
  public var audioGroup: String?
  /// The provider's preference: higher is better. Nil if missing or invalid.
  public var score: Double?
  public var stableID: String?
  public var name: String?
  /// The pathway to which the variant belongs (RFC 8216bis, PATHWAY-ID); nil if it is not stated.
  public var pathway: String?

  /// Whether the variant contains video, according to its RESOLUTION and CODECS attributes.
  public var hasPictures: Bool {
    if resolution != nil { return true }
    let families = ["avc", "hvc", "hev", "dvh", "av01", "vp08", "vp09", "mp4v"]
    return codecs.contains { codec in families.contains { codec.hasPrefix($0) } }
  }
}

/// An entry of an audio group (`EXT-X-MEDIA:TYPE=AUDIO`). The entries of a group are alternatives
/// to each other.
public struct RenditionEntry: Sendable, Equatable {
  public var group: String
  public var name: String
  /// Address of the media playlist; nil if the sound is in the variants' own segments.
  public var uri: String?
  /// A language tag (RFC 5646); nil if it is not stated.
  public var language: String?
  public var isDefault = false
  public var isAutoselected = false
  public var channels: AudioChannels?
  public var characteristics: [String] = []
  public var stableID: String?
  /// Sample rate in Hz; nil if it is missing or invalid.
  public var sampleRate: Int?
}

/// The CHANNELS attribute: a number of channels, coding identifiers and usage indicators (RFC
/// 8216bis, section 4.4.6.1).
public struct AudioChannels: Sendable, Equatable {
  public var count: Int
  /// Coding identifiers, such as `JOC`, or `3OA` for ambisonics of order 3. Empty if none are
  /// stated.
  public var codings: [String] = []
  /// Usage indicators, such as `BINAURAL`, `IMMERSIVE` or `DOWNMIX`.
  public var usages: [String] = []

  /// The value of the CHANNELS attribute in a playlist, such as `6` or `4/1OA`.
  public var text: String {
    var parts = ["\(count)"]
    if !codings.isEmpty || !usages.isEmpty {
      parts.append(codings.isEmpty ? "-" : codings.joined(separator: ","))
    }
    if !usages.isEmpty { parts.append(usages.joined(separator: ",")) }
    return parts.joined(separator: "/")
  }

  /// Whether the sound was made for headphones, so that it must not be rendered binaurally again.
  public var isBinaural: Bool { usages.contains("BINAURAL") }
}

extension AudioChannels {
  /// Parses a CHANNELS attribute. Returns nil unless it begins with a count from 1 to 1024.
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
