// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import HLS

/// Makes segments that pass the format checks, and reads and writes the files of kept folders.
enum MadeSegments {
  /// A transport stream of this many packets, with random content that depends on the seed.
  static func stream(_ seed: UInt64, packets: Int = 4) -> [UInt8] {
    var random = SeededGenerator(seed)
    return (0..<packets).flatMap { _ in
      [0x47] + (1..<188).map { _ in UInt8.random(in: 0...255, using: &random) }
    }
  }

  static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
    let size = content.count + 8
    return (0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - 8 * $0)) } + Array(type.utf8)
      + content
  }

  static func fragment(_ seed: UInt8) -> [UInt8] {
    box("moof", [seed]) + box("mdat", [seed, seed, seed])
  }

  static func segment(
    _ number: Int, seconds: Double = 4, uri: String? = nil, discontinuity: Int = 0
  ) -> MediaSegment {
    var segment = MediaSegment(
      uri: uri ?? "seg\(number).ts", duration: seconds, sequence: number)
    segment.discontinuity = discontinuity
    return segment
  }

  static func rendition(
    _ uri: String = "a.m3u8", channels: String? = "2", bitRate: Double = 128_000
  ) -> KeptRendition {
    var rendition = KeptRendition(uri: uri, name: "Sound")
    rendition.channelText = channels
    rendition.bitRate = bitRate
    return rendition
  }

  static func media(_ path: String) throws -> MediaPlaylist {
    guard case .media(let playlist) = try Playlist(bytes(path)) else { throw Unexpected() }
    return playlist
  }

  static func master(_ folder: String) throws -> MultivariantPlaylist {
    guard case .multivariant(let playlist) = try Playlist(bytes(folder + "/master.m3u8")) else {
      throw Unexpected()
    }
    return playlist
  }

  static func bytes(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: path)))
  }

  static func put(_ bytes: [UInt8], _ path: String) throws {
    try Data(bytes).write(to: URL(filePath: path))
  }

  static func names(_ path: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? []
  }

  struct Unexpected: Error {}
}

/// Checks that everything that a folder's playlists list is there and intact, as a player would
/// find it.
///
/// - Returns: the segments of each media playlist, by its URI.
@discardableResult
func expectValidPresentation(_ path: String) throws -> [String: [MediaSegment]] {
  let folder = try #require(PresentationFolder(path))
  let loader = PlaylistLoader(FolderFetcher(folder), folder: folder)
  guard case .multivariant(let master, let place) = try loader.open(folder: folder) else {
    throw MadeSegments.Unexpected()
  }
  var found: [String: [MediaSegment]] = [:]
  for uri in Set(master.variants.map(\.uri) + master.renditions.compactMap(\.uri)) {
    let address = try loader.address(of: uri, in: place)
    guard case .media(let media) = try #require(try loader.load(address)).playlist else {
      throw MadeSegments.Unexpected()
    }
    #expect(media.hasEnded && !media.segments.isEmpty)
    var segments = SegmentLoader(loader, fetcher: FolderFetcher(folder))
    for segment in media.segments {
      #expect(segment.duration <= media.targetDuration + 0.5 && segment.keys.isEmpty)
      if !segment.isGap { _ = try segments.load(segment, in: address, goesOn: { _ in true }) }
    }
    found[uri] = media.segments
  }
  return found
}
