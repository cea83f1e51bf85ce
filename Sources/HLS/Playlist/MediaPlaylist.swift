// SPDX-License-Identifier: Apache-2.0

/// The segments of one rendition, in order (RFC 8216, section 4.3.3).
public struct MediaPlaylist: Sendable, Equatable {
  public enum Kind: String, Sendable {
    case onDemand = "VOD"
    case event = "EVENT"
  }

  /// `EXT-X-VERSION`; 1 if it is missing.
  public var version = 1
  /// Maximum duration of a segment, rounded to the nearest second, in s.
  public var targetDuration = 0.0
  /// Media sequence number of the first segment.
  public var mediaSequence = 0
  /// Number of discontinuities before the first segment.
  public var discontinuitySequence = 0
  public var kind: Kind?
  /// Whether no segment will be added.
  public var hasEnded = false
  /// Whether each segment can be decoded without those before it.
  public var areSegmentsIndependent = false
  /// Whether it contains only video key frames and no sound.
  public var hasOnlyKeyFrames = false
  public var start: PlaylistStart?
  /// Preferred distance of playback from the live end, in s; nil for three target durations.
  public var holdBack: Double?
  public var segments: [MediaSegment] = []

  /// Total duration of all segments, in s.
  public var duration: Double { segments.reduce(0) { $0 + $1.duration } }
}

/// The preferred start of playback (`EXT-X-START`).
public struct PlaylistStart: Sendable, Equatable {
  /// Offset from the beginning, or from the end if negative, in s.
  public var offset: Double
  /// Whether samples before the offset should be skipped.
  public var isPrecise: Bool
}

/// An entry of a media playlist.
public struct MediaSegment: Sendable, Equatable {
  /// The URI as written in the playlist, with variables substituted.
  public var uri: String
  /// Duration in s.
  public var duration: Double
  public var title: String?
  /// Its media sequence number.
  public var sequence: Int
  /// Discontinuity number. Segments with the same number share timestamps, codec and format.
  public var discontinuity = 0
  /// Byte range of the resource; nil for all of it.
  public var range: ByteRange?
  /// Its initialisation section; nil if there is none.
  public var map: MediaMap?
  /// Keys to decrypt it, as alternatives; empty if it is not encrypted.
  public var keys: [SegmentKey] = []
  /// Whether the server does not have this segment.
  public var isGap = false
  /// Date and time of its start; nil if unknown.
  public var programDate: ProgramDate?
  /// Bit rate that the playlist states, in bit/s; nil if unknown.
  public var bitRate: Int?
}

/// A range of bytes in a resource.
public struct ByteRange: Sendable, Equatable {
  public var offset: Int
  /// Number of bytes, at least 1.
  public var length: Int

  public var end: Int { offset + length }

  public init(offset: Int, length: Int) {
    self.offset = offset
    self.length = length
  }
}

/// The initialisation section of segments (`EXT-X-MAP`).
public struct MediaMap: Sendable, Equatable {
  public var uri: String
  public var range: ByteRange?
  /// Keys to decrypt it, as alternatives; empty if it is not encrypted.
  public var keys: [SegmentKey] = []
}

/// The encryption of segments (`EXT-X-KEY`).
public struct SegmentKey: Sendable, Equatable {
  public enum Method: Sendable, Equatable {
    /// Complete segments are encrypted: AES-128 in cipher block chaining mode with PKCS #7 padding.
    case aes128
    /// Any other method, such as one that encrypts samples only.
    case other(String)
  }

  public var method: Method
  public var uri: String
  /// 16 bytes; nil for the media sequence number as a 128-bit big-endian integer.
  public var initialisationVector: [UInt8]?
  /// KEYFORMAT; `identity` means that the key is 16 plain bytes.
  public var format = "identity"

  /// Returns the initialisation vector for a segment.
  public func vector(forSequence sequence: Int) -> [UInt8] {
    if let initialisationVector { return initialisationVector }
    let low = (0..<8).map { UInt8(truncatingIfNeeded: sequence >> (56 - 8 * $0)) }
    return [UInt8](repeating: 0, count: 8) + low
  }
}
