// SPDX-License-Identifier: Apache-2.0

/// The contents of an `.m3u8` file.
public enum Playlist: Sendable, Equatable {
  case multivariant(MultivariantPlaylist)
  case media(MediaPlaylist)

  /// Parses a playlist (RFC 8216 and draft-pantos-hls-rfc8216bis). Ignores unknown tags.
  ///
  /// - Parameters:
  ///   - bytes: UTF-8; a byte order mark is skipped.
  ///   - imported: the variables of the multivariant playlist.
  ///   - query: the parameters of the playlist's own address.
  /// - Throws: the reason, with the line number if a single line is invalid.
  public init(
    _ bytes: [UInt8], imported: PlaylistVariables = PlaylistVariables(),
    query: [String: String] = [:]
  ) throws(PlaylistError) {
    guard bytes.count <= PlaylistLimits.bytes else {
      throw PlaylistError("it is larger than \(PlaylistLimits.bytes >> 20) MiB")
    }
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let content = bytes.starts(with: mark) ? bytes.dropFirst(3) : bytes[...]
    var reader = PlaylistReader(imported: imported, query: query)
    var (number, isFirst) = (0, true)
    for part in content.split(separator: 0x0A, omittingEmptySubsequences: false) {
      number += 1
      guard part.count <= PlaylistLimits.lineCharacters else {
        throw PlaylistError(
          line: number, "the line is longer than \(PlaylistLimits.lineCharacters) bytes")
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

/// The reason why a text is not a valid playlist.
public struct PlaylistError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Line number, counted from 1; nil if the error is not about a single line.
  public var line: Int?
  public var reason: String

  public init(line: Int? = nil, _ reason: String) {
    self.line = line
    self.reason = reason
  }

  public var description: String { line.map { "line \($0): \(reason)" } ?? reason }
}

/// Limits for playlists. A playlist that exceeds a limit is refused, because it is probably hostile
/// or broken.
public enum PlaylistLimits {
  /// Maximum size of a playlist, in bytes.
  public static let bytes = 8 << 20
  /// Maximum number of variants of a presentation.
  public static let variants = 64
  /// Maximum number of audio renditions of a presentation.
  public static let renditions = 256
  /// Maximum number of segments of a media playlist.
  public static let segments = 100_000
  /// Maximum length of a line, in bytes.
  static let lineCharacters = 16_384
  /// Maximum number of variables of a playlist.
  static let variables = 256
  /// Maximum duration of a segment, and maximum target duration, in s.
  static let seconds = 86_400.0
}
