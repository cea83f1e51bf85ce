// SPDX-License-Identifier: Apache-2.0

/// The segments of one rendition, in order (RFC 8216, section 4.3.3).
public struct MediaPlaylist: Sendable, Equatable {
  public enum Kind: String, Sendable {
    case onDemand = "VOD"
    case event = "EVENT"
  }

  /// Protocol version (`EXT-X-VERSION`); 1 if the tag is missing or invalid.
  public var version = 1
  /// Target duration in s (`EXT-X-TARGETDURATION`): the maximum of the segment durations, each
  /// rounded to the nearest second. If the tag is missing or states 0, this is the duration of the
  /// longest segment, rounded up to a second.
  public var targetDuration = 0.0
  /// Media sequence number of the first segment.
  public var mediaSequence = 0
  /// Discontinuity number at the beginning of the playlist (`EXT-X-DISCONTINUITY-SEQUENCE`).
  public var discontinuitySequence = 0
  public var kind: Kind?
  /// Whether no more segments will be added to the playlist (`EXT-X-ENDLIST`).
  public var hasEnded = false
  /// Whether the playlist states that each segment can be decoded without the other segments
  /// (`EXT-X-INDEPENDENT-SEGMENTS`).
  public var areSegmentsIndependent = false
  /// Whether each segment is a single video key frame (`EXT-X-I-FRAMES-ONLY`). Such a playlist
  /// contains no sound.
  public var hasOnlyKeyFrames = false
  public var start: PlaylistStart?
  /// Recommended distance of playback from the live end, in s (HOLD-BACK of
  /// `EXT-X-SERVER-CONTROL`). Nil stands for three target durations.
  public var holdBack: Double?
  /// Number of segments that a delta update leaves out at the start (`EXT-X-SKIP`). They are not in
  /// `segments`, and `mediaSequence` is the number of the first segment after them.
  public var skippedSegments = 0
  /// Whether `hasEnded` is only assumed, because the playlist is a file without `EXT-X-ENDLIST`.
  /// Such a file usually comes from a recording of a live presentation or from an interrupted
  /// download.
  public var isCutOff = false
  /// Notes for the listener, about ignored invalid values and about segments that a delta update
  /// leaves out.
  public var notes: [String] = []
  public var segments: [MediaSegment] = []

  /// Total duration of all segments, in s.
  public var duration: Double { segments.reduce(0) { $0 + $1.duration } }
}

/// The preferred start of playback (`EXT-X-START`).
public struct PlaylistStart: Sendable, Equatable {
  /// Offset in s from the beginning of the playlist or, if it is negative, from the end.
  public var offset: Double
  /// Whether to start exactly at the offset. Otherwise, playback starts at the beginning of the
  /// segment that contains the offset.
  public var isPrecise: Bool
}

/// An entry of a media playlist.
public struct MediaSegment: Sendable, Equatable {
  /// The URI as written in the playlist, with variables replaced by their values.
  public var uri: String
  /// Duration in s.
  public var duration: Double
  public var title: String?
  /// Media sequence number.
  public var sequence: Int
  /// Discontinuity number. Segments of one rendition that have the same number have continuous
  /// timestamps and the same format.
  public var discontinuity = 0
  /// Byte range in the resource; nil for the complete resource.
  public var range: ByteRange?
  /// Initialisation section; nil if there is none.
  public var map: MediaMap?
  /// Alternative keys to decrypt the segment; empty if the segment is not encrypted.
  public var keys: [SegmentKey] = []
  /// Whether the segment is missing on the server (`EXT-X-GAP`).
  public var isGap = false
  /// Date and time of the segment's start; nil if the segment has no valid
  /// `EXT-X-PROGRAM-DATE-TIME`.
  public var programDate: ProgramDate?
  /// Approximate bit rate of the segment, in bit/s (`EXT-X-BITRATE`); nil if the tag is missing or
  /// invalid, or if the segment is a byte range.
  public var bitRate: Int?
}

/// The bytes of a resource from `offset` up to, but not including, `end`.
public struct ByteRange: Sendable, Equatable {
  public var offset: Int
  /// Number of bytes.
  public var length: Int

  public var end: Int { offset + length }

  public init(offset: Int, length: Int) {
    self.offset = offset
    self.length = length
  }
}

/// The location of an initialisation section (`EXT-X-MAP`). A decoder must read the section before
/// the segments that refer to it.
public struct MediaMap: Sendable, Equatable {
  public var uri: String
  public var range: ByteRange?
  /// Alternative keys to decrypt the section; empty if it is not encrypted.
  public var keys: [SegmentKey] = []
}

/// The address of a key, and the method of encryption (`EXT-X-KEY`).
public struct SegmentKey: Sendable, Equatable {
  public enum Method: Sendable, Equatable {
    /// Complete segments are encrypted with AES-128, in cipher block chaining mode with PKCS #7
    /// padding.
    case aes128
    /// Any other method.
    case other(String)
  }

  public var method: Method
  public var uri: String
  /// Initialisation vector, 16 bytes. Nil stands for the segment's media sequence number as a
  /// 128-bit big-endian integer.
  public var initialisationVector: [UInt8]?
  /// Key format (KEYFORMAT attribute). A key in the format `identity` is a file of 16 bytes.
  public var format = "identity"

  /// Returns the 16-byte initialisation vector for a segment, given its media sequence number.
  public func vector(forSequence sequence: Int) -> [UInt8] {
    if let initialisationVector { return initialisationVector }
    let low = (0..<8).map { UInt8(truncatingIfNeeded: sequence >> (56 - 8 * $0)) }
    return [UInt8](repeating: 0, count: 8) + low
  }
}
