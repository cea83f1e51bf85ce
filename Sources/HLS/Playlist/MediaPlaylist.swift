// SPDX-License-Identifier: Apache-2.0

/// The segments of one rendition, one after the other (RFC 8216, section 4.3.3).
public struct MediaPlaylist: Sendable, Equatable {
  public enum Kind: String, Sendable {
    case onDemand = "VOD"
    case event = "EVENT"
  }

  /// `EXT-X-VERSION`; 1 where it is not given.
  public var version = 1
  /// Seconds: no segment is longer, to half a second.
  public var targetDuration = 0.0
  /// Number of the first segment.
  public var mediaSequence = 0
  /// Number of discontinuities before the first segment.
  public var discontinuitySequence = 0
  public var kind: Kind?
  /// No segment will be added.
  public var hasEnded = false
  /// Whether each segment can be decoded without those before it.
  public var areSegmentsIndependent = false
  /// Pictures only: nothing to hear.
  public var hasOnlyKeyFrames = false
  public var start: PlaylistStart?
  /// Seconds from the live end at which playing should begin; nil: three target durations.
  public var holdBack: Double?
  public var segments: [MediaSegment] = []

  /// Seconds of all segments.
  public var duration: Double { segments.reduce(0) { $0 + $1.duration } }
}

/// Where playing should begin (`EXT-X-START`).
public struct PlaylistStart: Sendable, Equatable {
  /// Seconds from the beginning; from the end where negative.
  public var offset: Double
  /// Whether samples before it should not be heard.
  public var isPrecise: Bool
}

/// A piece of sound.
public struct MediaSegment: Sendable, Equatable {
  /// As it stands in the playlist, variables filled in.
  public var uri: String
  /// Seconds.
  public var duration: Double
  public var title: String?
  /// Its media sequence number.
  public var sequence: Int
  /// Segments of one number share their time line, their coding and their format.
  public var discontinuity = 0
  /// The bytes of the resource; nil for all.
  public var range: ByteRange?
  /// What must be read before it.
  public var map: MediaMap?
  /// Ways to decrypt it; empty where it is in the clear.
  public var keys: [SegmentKey] = []
  /// The server has none.
  public var isGap = false
  /// When it begins.
  public var programDate: ProgramDate?
  /// bit/s, where the playlist tells.
  public var bitRate: Int?
}

/// Bytes of a resource.
public struct ByteRange: Sendable, Equatable {
  public var offset: Int
  /// At least 1.
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
  /// Ways to decrypt it.
  public var keys: [SegmentKey] = []
}

/// How segments are encrypted (`EXT-X-KEY`).
public struct SegmentKey: Sendable, Equatable {
  public enum Method: Sendable, Equatable {
    /// Whole segments, AES-128 in cipher block chaining mode, PKCS #7 padding.
    case aes128
    /// Samples only; or something newer.
    case other(String)
  }

  public var method: Method
  public var uri: String
  /// 16 bytes; nil: the media sequence number, as a 128-bit integer, most significant byte first.
  public var initialisationVector: [UInt8]?
  /// `identity` for 16 bytes as they are.
  public var format = "identity"

  /// The vector with which a segment is decrypted.
  public func vector(forSequence sequence: Int) -> [UInt8] {
    if let initialisationVector { return initialisationVector }
    let low = (0..<8).map { UInt8(truncatingIfNeeded: sequence >> (56 - 8 * $0)) }
    return [UInt8](repeating: 0, count: 8) + low
  }
}
