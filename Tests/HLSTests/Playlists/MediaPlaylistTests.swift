// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HLS

@Suite struct MediaPlaylistTests {
  private func media(
    _ text: String, imported: PlaylistVariables = .init(), query: [String: String] = [:]
  ) throws -> MediaPlaylist {
    guard
      case .media(let playlist) = try Playlist(
        Array(text.utf8), imported: imported, query: query)
    else { throw PlaylistError("no media playlist") }
    return playlist
  }

  @Test func tagsApplyToTheSegmentsAfterThem() throws {
    let playlist = try media(
      """
      #EXTM3U
      #EXT-X-VERSION:7
      #EXT-X-TARGETDURATION:4
      #EXT-X-MEDIA-SEQUENCE:41
      #EXT-X-DISCONTINUITY-SEQUENCE:3
      #EXT-X-PLAYLIST-TYPE:VOD
      #EXT-X-INDEPENDENT-SEGMENTS
      #EXT-X-SOMETHING-NEW:A=1
      # a remark
      #EXT-X-MAP:URI="init.mp4",BYTERANGE="720@0"
      #EXT-X-PROGRAM-DATE-TIME:2026-02-14T10:00:00.500+01:00
      #EXT-X-BITRATE:192
      #EXTINF:3.84,First
      a.m4s
      #EXT-X-KEY:METHOD=AES-128,URI="k1",IV=0x0102
      #EXTINF:3.84,
      b.m4s
      #EXT-X-DISCONTINUITY
      #EXT-X-MAP:URI="init2.mp4"
      #EXT-X-KEY:METHOD=AES-128,URI="k2"
      #EXT-X-GAP
      #EXTINF:1
      c.m4s
      #EXT-X-KEY:METHOD=NONE
      #EXT-X-BYTERANGE:100@50
      #EXTINF:2,
      all.m4s
      #EXT-X-BYTERANGE:10
      #EXTINF:2,
      all.m4s
      #EXT-X-ENDLIST
      """)
    #expect(playlist.version == 7 && playlist.targetDuration == 4 && playlist.hasEnded)
    #expect(playlist.kind == .onDemand && playlist.areSegmentsIndependent)
    let segments = playlist.segments
    #expect(segments.map(\.uri) == ["a.m4s", "b.m4s", "c.m4s", "all.m4s", "all.m4s"])
    #expect(segments.map(\.sequence) == [41, 42, 43, 44, 45])
    #expect(segments.map(\.discontinuity) == [3, 3, 4, 4, 4])
    #expect(segments.map(\.duration) == [3.84, 3.84, 1, 2, 2])
    #expect(segments.map(\.isGap) == [false, false, true, false, false])
    #expect(segments[0].title == "First" && segments[1].title == nil)
    #expect(segments[0].bitRate == 192_000 && segments[3].bitRate == nil)
    #expect(segments[0].programDate?.text == "2026-02-14T09:00:00.500Z")
    #expect(segments[0].map?.range == ByteRange(offset: 0, length: 720))
    #expect(segments[2].map?.uri == "init2.mp4" && segments[2].map?.keys.first?.uri == "k1")
    #expect(segments[0].keys.isEmpty && segments[3].keys.isEmpty)
    let vector = [UInt8](repeating: 0, count: 14) + [1, 2]
    #expect(segments[1].keys.first?.vector(forSequence: 42) == vector)
    let implicit = [UInt8](repeating: 0, count: 15) + [43]
    #expect(segments[2].keys.first?.vector(forSequence: 43) == implicit)
    #expect(segments[3].range == ByteRange(offset: 50, length: 100))
    #expect(segments[4].range == ByteRange(offset: 150, length: 10))
  }

  @Test func keysOfDifferentFormatsCoexist() throws {
    let playlist = try media(
      """
      #EXTM3U
      #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://x",KEYFORMAT="com.example"
      #EXT-X-KEY:METHOD=AES-128,URI="k"
      #EXTINF:1,
      a
      #EXT-X-KEY:METHOD=AES-128,URI="k2"
      #EXTINF:1,
      b
      """)
    #expect(playlist.segments[0].keys.map(\.uri) == ["skd://x", "k"])
    #expect(playlist.segments[0].keys[0].method == .other("SAMPLE-AES"))
    #expect(playlist.segments[1].keys.map(\.uri) == ["skd://x", "k2"])
    #expect(playlist.targetDuration == 1)
  }

  @Test func variablesAreSubstituted() throws {
    var imported = PlaylistVariables()
    try imported.define(
      AttributeList("NAME=\"host\",VALUE=\"h.example\"", imported), imported: imported, query: [:])
    let playlist = try media(
      """
      #EXTM3U
      #EXT-X-DEFINE:IMPORT="host"
      #EXT-X-DEFINE:QUERYPARAM="token"
      #EXT-X-DEFINE:NAME="dir",VALUE="x/{$token}"
      #EXT-X-MAP:URI="https://{$host}/{$dir}/init.mp4"
      #EXTINF:1,
      {$dir}/{a}.m4s
      """, imported: imported, query: ["token": "t1"])
    #expect(playlist.segments[0].map?.uri == "https://h.example/x/t1/init.mp4")
    #expect(playlist.segments[0].uri == "x/t1/{a}.m4s")
  }

  @Test(arguments: [
    ("", "it is empty"),
    ("<html>", "it does not begin with #EXTM3U"),
    ("#EXTM3U\na.ts", "line 2: 'a.ts' has no EXTINF"),
    ("#EXTM3U\n#EXTINF:x,\na.ts", "line 2: 'x' is not a duration from 0 to 86400 seconds"),
    ("#EXTM3U\n#EXTINF:1e9,\na.ts", "line 2: '1e9' is not a duration from 0 to 86400 seconds"),
    ("#EXTM3U\n#EXTINF:-1,\na.ts", "line 2: '-1' is not a duration from 0 to 86400 seconds"),
    ("#EXTM3U\n#EXT-X-BYTERANGE:0", "line 2: '0' is not a valid byte range such as 1000@0"),
    (
      "#EXTM3U\n#EXT-X-BYTERANGE:9\n#EXTINF:1,\na.ts",
      "line 4: EXT-X-BYTERANGE has no offset and does not follow a range of 'a.ts'"
    ),
    ("#EXTM3U\n#EXT-X-MAP:BYTERANGE=\"1@0\"", "line 2: URI is missing or not quoted"),
    ("#EXTM3U\n#EXT-X-MAP:URI=\"x", "line 2: the value of URI has no closing quote"),
    ("#EXTM3U\n#EXT-X-KEY:URI=\"x\"", "line 2: the METHOD of EXT-X-KEY is missing or quoted"),
    (
      "#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"x\",IV=12",
      "line 2: IV is '12'; it must be 0x followed by 1 to 32 hexadecimal digits"
    ),
    ("#EXTM3U\n#EXTINF:1,\n{$a}.ts", "line 3: the variable 'a' is not defined"),
    ("#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:9223372036854775807", "its sequence numbers are too large"),
    (
      "#EXTM3U\n#EXTINF:1,\na\n#EXT-X-STREAM-INF:BANDWIDTH=1\nb",
      "it has both EXTINF and EXT-X-STREAM-INF"
    ),
  ])
  func errorsStateTheLineAndReason(text: String, message: String) {
    #expect {
      try media(text)
    } throws: {
      "\($0)" == message
    }
  }

  @Test func oversizedPlaylistsAreRefused() {
    let segments = "#EXTM3U\n" + String(repeating: "#EXTINF:1,\na\n", count: 100_001)
    #expect(throws: PlaylistError.self) { try media(segments) }
    let line = "#EXTM3U\n#" + String(repeating: "x", count: 20_000)
    #expect(throws: PlaylistError.self) { try media(line) }
    var bomb = "#EXTM3U\n#EXT-X-DEFINE:NAME=\"a0\",VALUE=\"xxxxxxxxxx\"\n"
    for i in 1..<20 {
      let value = String(repeating: "{$a\(i - 1)}", count: 10)
      bomb += "#EXT-X-DEFINE:NAME=\"a\(i)\",VALUE=\"\(value)\"\n"
    }
    #expect(throws: PlaylistError.self) { try media(bomb) }
  }

  @Test(arguments: [
    ("1970-01-01T00:00:00Z", 0.0), ("2000-03-01T00:00:00Z", 951_868_800),
    ("2024-02-29T23:59:59.25Z", 1_709_251_199.25), ("2026-11-21T12:00:00+0130", 1_795_257_000),
    ("1969-12-31T23:59:59Z", -1), ("2026-11-21T12:00:00", 1_795_262_400),
  ])
  func programDatesConvertToSecondsSince1970(text: String, seconds: Double) throws {
    let date = try #require(ProgramDate(text[...]))
    #expect(date.seconds == seconds)
    #expect(ProgramDate(date.text[...]) == date)
  }

  @Test(arguments: ["", "2026", "2026-13-01T00:00:00Z", "2026-01-01T25:00:00Z", "2026-01-01T1:2Z"])
  func invalidProgramDatesAreIgnored(text: String) { #expect(ProgramDate(text[...]) == nil) }
}
