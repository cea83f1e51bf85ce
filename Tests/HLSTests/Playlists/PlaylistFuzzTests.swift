// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import HLS

@Suite struct PlaylistFuzzTests {
  /// Tests every kind of server content, and random damage to it.
  @Test func mutatedServerContentNeverCrashesTheParsers() {
    let seeds = PlaylistSeeds.all
    for seed in seeds { PlaylistFuzz.run(seed) }
    var random = SeededGenerator(2026)
    for _ in 0..<20_000 {
      guard var bytes = seeds.randomElement(using: &random) else { return }
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let position = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[position] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.removeSubrange(position..<min(bytes.count, position + 9))
        case 2: bytes.insert(contentsOf: bytes[..<position].suffix(20), at: position)
        default: bytes.insert(contentsOf: Array("99999999999999999999".utf8), at: position)
        }
        if bytes.isEmpty { bytes = [0] }
      }
      PlaylistFuzz.run(bytes)
    }
  }
}

/// The contents that are mutated.
enum PlaylistSeeds {
  static let all: [[UInt8]] = [
    text(
      0,
      """
      #EXTM3U
      #EXT-X-VERSION:8
      #EXT-X-DEFINE:NAME="v",VALUE="en"
      #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="n",LANGUAGE="{$v}",CHANNELS="16/JOC/IMMERSIVE",\
      URI="a.m3u8"
      #EXT-X-STREAM-INF:BANDWIDTH=350000,AVERAGE-BANDWIDTH=330000,CODECS="ec-3,avc1.4d",AUDIO="a",\
      SCORE=1.5
      v.m3u8
      #EXT-X-START:TIME-OFFSET=-3.5,PRECISE=YES
      """),
    text(
      1,
      """
      #EXTM3U
      #EXT-X-TARGETDURATION:4
      #EXT-X-MEDIA-SEQUENCE:17
      #EXT-X-DISCONTINUITY-SEQUENCE:2
      #EXT-X-MAP:URI="i.mp4",BYTERANGE="600@0"
      #EXT-X-KEY:METHOD=AES-128,URI="k",IV=0x0123456789abcdef0123456789abcdef
      #EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00.000Z
      #EXTINF:3.84,title
      #EXT-X-BYTERANGE:1000@600
      a.mp4
      #EXTINF:3.84,
      #EXT-X-BYTERANGE:1000
      a.mp4
      #EXT-X-DISCONTINUITY
      #EXT-X-GAP
      #EXTINF:3.84,
      b.mp4
      #EXT-X-ENDLIST
      """),
    [2] + (0..<3 * 188).map { $0 % 188 == 0 ? 0x47 : UInt8(truncatingIfNeeded: $0) },
    [2] + [0, 0, 0, 12] + Array("moof".utf8) + [1, 2, 3, 4, 0, 0, 0, 9] + Array("mdat".utf8) + [1],
    [2] + Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 73] + Array("PRIV".utf8) + [0, 0, 0, 53, 0, 0]
      + Array("com.apple.streaming.transportStreamTimestamp\0".utf8)
      + [0, 0, 0, 0, 0, 1, 0x5F, 0x90, 0x0B, 0x77, 1, 2],
    text(3, "../x%2e/%00?q#f"), text(3, "file:///etc/passwd"), text(3, "http://[::1]/a"),
  ]

  private static func text(_ kind: UInt8, _ text: String) -> [UInt8] { [kind] + Array(text.utf8) }
}
