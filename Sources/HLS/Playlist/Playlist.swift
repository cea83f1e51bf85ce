// SPDX-License-Identifier: Apache-2.0

/// What a `.m3u8` holds.
public enum Playlist: Sendable, Equatable {
  case multivariant(MultivariantPlaylist)
  case media(MediaPlaylist)

  /// Reads a playlist (RFC 8216 and draft-pantos-hls-rfc8216bis). Unknown tags are ignored.
  ///
  /// - Parameters:
  ///   - bytes: UTF-8; a byte order mark is passed over.
  ///   - imported: the multivariant playlist's variables.
  ///   - query: the parameters of the playlist's own address.
  /// - Throws: the line and what is wrong in it, or which limit is passed.
  public init(
    _ bytes: [UInt8], imported: PlaylistVariables = PlaylistVariables(),
    query: [String: String] = [:]
  ) throws(PlaylistError) {
    guard bytes.count <= PlaylistLimits.bytes else {
      throw PlaylistError("it has more than \(PlaylistLimits.bytes >> 20) MB")
    }
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let content = bytes.starts(with: mark) ? bytes.dropFirst(3) : bytes[...]
    var reader = PlaylistReader(imported: imported, query: query)
    var (number, isFirst) = (0, true)
    for part in content.split(separator: 0x0A, omittingEmptySubsequences: false) {
      number += 1
      guard part.count <= PlaylistLimits.lineCharacters else {
        throw PlaylistError(
          line: number, "it has more than \(PlaylistLimits.lineCharacters) bytes")
      }
      let line = Self.trimmed(part)
      if line.isEmpty { continue }
      if isFirst, line != "#EXTM3U" { throw PlaylistError("it does not begin with #EXTM3U") }
      isFirst = false
      do throws(PlaylistError) { try reader.take(line[...]) } catch {
        throw PlaylistError(line: error.line ?? number, error.reason)
      }
    }
    if isFirst { throw PlaylistError("it is empty") }
    self = try reader.playlist()
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
    var bytes = bytes
    while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
    while let first = bytes.first, first <= 0x20 { bytes.removeFirst() }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Why a text is no playlist that can be played.
public struct PlaylistError: Error, Sendable, Equatable, CustomStringConvertible {
  /// From 1; nil where it is not about one line.
  public var line: Int?
  public var reason: String

  public init(line: Int? = nil, _ reason: String) {
    self.line = line
    self.reason = reason
  }

  public var description: String { line.map { "line \($0): \(reason)" } ?? reason }
}

/// How large a playlist may be; one that is larger is refused, since it is hostile or broken.
public enum PlaylistLimits {
  /// Bytes of a playlist.
  public static let bytes = 8 << 20
  /// Variants of a presentation.
  public static let variants = 64
  /// Renditions of a presentation, of all groups.
  public static let renditions = 256
  /// Segments of a media playlist: 55 hours of 2 s.
  public static let segments = 100_000
  /// Characters of a line.
  static let lineCharacters = 16_384
  /// Variables that a playlist may define.
  static let variables = 256
  /// Seconds of a segment, and of a target duration.
  static let seconds = 86_400.0
}
