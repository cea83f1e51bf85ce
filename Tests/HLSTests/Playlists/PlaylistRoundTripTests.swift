// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import HLS

/// Any playlist that is written reads back unchanged, and damaged text causes no harm.
@Suite struct PlaylistRoundTripTests {
  @Test(arguments: 0..<200 as Range<UInt64>)
  func mediaPlaylistsRoundTrip(seed: UInt64) throws {
    var random = SeededGenerator(seed)
    let playlist = MediaPlaylist.random(using: &random)
    #expect(try Playlist(Array(playlist.text.utf8)) == .media(playlist))
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func multivariantPlaylistsRoundTrip(seed: UInt64) throws {
    var random = SeededGenerator(seed)
    let playlist = MultivariantPlaylist.random(using: &random)
    #expect(try Playlist(Array(playlist.text.utf8)) == .multivariant(playlist))
  }

  @Test(arguments: 0..<500 as Range<UInt64>)
  func damagedPlaylistsAreParsedOrRefused(seed: UInt64) {
    var random = SeededGenerator(seed)
    var bytes = Array(
      (Bool.random(using: &random)
        ? MediaPlaylist.random(using: &random).text
        : MultivariantPlaylist.random(using: &random).text).utf8)
    for _ in 0..<Int.random(in: 1...20, using: &random) {
      let position = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: bytes[position] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes.remove(at: position)
      case 2: bytes.insert(contentsOf: bytes[position...].prefix(30), at: 0)
      default: bytes.insert(contentsOf: Array("99999999999999999999".utf8), at: position)
      }
      if bytes.isEmpty { return }
    }
    guard case .media(let playlist)? = try? Playlist(bytes) else { return }
    // Any playlist that was read can be written and read again.
    #expect(throws: Never.self) { try Playlist(Array(playlist.text.utf8)) }
  }
}
