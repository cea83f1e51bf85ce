// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HLS

@Suite struct MultivariantPlaylistTests {
  private func multivariant(_ text: String) throws -> MultivariantPlaylist {
    guard case .multivariant(let playlist) = try Playlist(Array(text.utf8)) else {
      throw PlaylistError("no multivariant playlist")
    }
    return playlist
  }

  @Test func variantsAndRenditionsAreParsed() throws {
    let playlist = try multivariant(
      """
      #EXTM3U
      #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",URI="s.m3u8"
      #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a51",NAME="English, 5.1",LANGUAGE="en",DEFAULT=YES,\
      CHANNELS="16/JOC",URI="51.m3u8"
      #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a2",NAME="Binaural",CHANNELS="2/-/BINAURAL",AUTOSELECT=YES
      #EXT-X-STREAM-INF:BANDWIDTH=330000,AVERAGE-BANDWIDTH=300000,CODECS="ec-3, avc1.640028",\
      AUDIO="a51",SCORE=1.5,RESOLUTION=640x360
      v1.m3u8
      #EXT-X-STREAM-INF:BANDWIDTH=133000,CODECS="mp4a.40.2",AUDIO="a2"
      v2.m3u8
      """)
    #expect(playlist.variants.map(\.uri) == ["v1.m3u8", "v2.m3u8"])
    #expect(playlist.variants[0].codecs == ["ec-3", "avc1.640028"])
    #expect(playlist.variants[0].averageBandwidth == 300_000)
    #expect(playlist.variants[0].score == 1.5 && playlist.variants[0].hasPictures)
    #expect(!playlist.variants[1].hasPictures && playlist.variants[1].score == nil)
    #expect(playlist.renditions.count == 2)
    let first = try #require(playlist.renditions(of: playlist.variants[0]).first)
    #expect(first.name == "English, 5.1" && first.language == "en" && first.uri == "51.m3u8")
    #expect(first.isDefault && first.isAutoselected)
    #expect(first.channels == AudioChannels(count: 16, codings: ["JOC"]))
    let second = try #require(playlist.renditions(of: playlist.variants[1]).first)
    #expect(second.channels?.isBinaural == true && second.uri == nil && !second.isDefault)
  }

  @Test(
    arguments: [
      ("6", 6, [], []), ("16/JOC", 16, ["JOC"], []), ("2/-/BINAURAL", 2, [], ["BINAURAL"]),
      ("4/1OA", 4, ["1OA"], []),
      ("12/JOC/IMMERSIVE,DOWNMIX", 12, ["JOC"], ["IMMERSIVE", "DOWNMIX"]),
    ] as [(String, Int, [String], [String])])
  func channelsAttributeGivesCountCodingsAndUsages(
    text: String, count: Int, codings: [String], usages: [String]
  ) throws {
    let channels = try #require(AudioChannels(text))
    #expect(channels == AudioChannels(count: count, codings: codings, usages: usages))
    #expect(channels.text == text)
  }

  @Test func moreThan64VariantsAreRefused() {
    let many = "#EXTM3U\n" + String(repeating: "#EXT-X-STREAM-INF:BANDWIDTH=1\na\n", count: 65)
    #expect {
      try multivariant(many)
    } throws: {
      "\($0)" == "line 131: the playlist has more than 64 variants"
    }
  }

  @Test(
    arguments: [
      ("128000.5", 128000, "its integer part is used"),
      ("1e5", nil, "it is ignored"),
      ("128000", 128000, nil),
    ] as [(String, Int?, String?)])
  func noteAboutABitRateSaysWhatIsUsed(value: String, rate: Int?, end: String?) throws {
    let playlist = try multivariant(
      "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=7,AVERAGE-BANDWIDTH=\(value)\na")
    #expect(playlist.variants[0].averageBandwidth == rate)
    #expect(playlist.notes.count == (end == nil ? 0 : 1))
    if let end { #expect(playlist.notes[0].hasSuffix("; \(end)"), "\(playlist.notes)") }
  }

  @Test(arguments: [
    ("#EXT-X-STREAM-INF:AUDIO=\"a\"", "the BANDWIDTH of EXT-X-STREAM-INF is missing or quoted"),
    ("#EXT-X-STREAM-INF:BANDWIDTH=-1", "BANDWIDTH is '-1', not a valid whole number"),
    ("#EXT-X-STREAM-INF:BANDWIDTH=9.5", "BANDWIDTH is '9.5', not a valid whole number"),
    ("#EXT-X-STREAM-INF:BANDWIDTH=9,SCORE=x", "SCORE is 'x', not a decimal number"),
    ("#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"a\",CHANNELS=\"5.1\"", "CHANNELS is '5.1'"),
    ("#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"a\",SAMPLE-RATE=x", "SAMPLE-RATE is 'x'"),
    ("#EXT-X-START:TIME-OFFSET=x", "TIME-OFFSET is 'x', not a decimal number"),
    ("#EXT-X-VERSION:x", "EXT-X-VERSION is 'x', not a valid whole number"),
  ])
  func malformedAttributesCauseANote(line: String, note: String) throws {
    let isVariant = line.contains("STREAM-INF")
    let rest = isVariant ? "\na" : "\n#EXT-X-STREAM-INF:BANDWIDTH=7\na"
    let playlist = try multivariant("#EXTM3U\n" + line + rest)
    #expect(playlist.notes.count == 1 && playlist.notes[0].hasPrefix(note), "\(playlist.notes)")
    #expect(playlist.variants.count == 1)
    // A bit rate that is not stated is estimated.
    #expect(Ladder(from: playlist).first.map { $0.bitRate > 0 } == true)
  }

  @Test func fractionOfABitRateIsIgnored() throws {
    let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=128000.7,AVERAGE-BANDWIDTH=1e5\na"
    let variant = try #require(try multivariant(text).variants.first)
    #expect(variant.bandwidth == 128_000 && variant.averageBandwidth == nil)
  }

  @Test(arguments: [
    ("#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,NAME=\"a\"", "line 2: GROUP-ID is missing or not quoted"),
    ("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH", "line 2: the attribute 'BANDWIDTH' has no value"),
    ("#EXTM3U\n#EXT-X-SESSION-DATA:X=1", "it has neither variants nor audio renditions"),
  ])
  func errorsStateTheLineAndReason(text: String, message: String) {
    #expect {
      try multivariant(text)
    } throws: {
      "\($0)" == message
    }
  }
}
