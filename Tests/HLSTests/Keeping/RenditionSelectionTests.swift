// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HLS

@Suite struct RenditionSelectionTests {
  /// Stereo at two bit rates, one of them in two languages, 5.1, and one rendition that no open
  /// decoder reads.
  private let master = """
    #EXTM3U
    #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="lo",NAME="English",LANGUAGE="en",DEFAULT=YES,CHANNELS="2",\
    URI="lo-en"
    #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="lo",NAME="Deutsch",LANGUAGE="de-AT",CHANNELS="2",URI="lo-de"
    #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="hi",NAME="English",LANGUAGE="en",DEFAULT=YES,CHANNELS="2",\
    URI="hi-en"
    #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="ch",NAME="English",LANGUAGE="en",DEFAULT=YES,CHANNELS="6",\
    URI="ch-en"
    #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="x",NAME="English",LANGUAGE="en",DEFAULT=YES,CHANNELS="12",\
    URI="x-en"
    #EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.5",AUDIO="lo"
    lo-en
    #EXT-X-STREAM-INF:BANDWIDTH=128000,CODECS="mp4a.40.2",AUDIO="hi"
    hi-en
    #EXT-X-STREAM-INF:BANDWIDTH=192000,CODECS="ec-3",AUDIO="ch"
    ch-en
    #EXT-X-STREAM-INF:BANDWIDTH=768000,CODECS="ac-4",AUDIO="x"
    x-en
    """

  private func renditions(
    _ change: (inout RenditionSelection) -> Void = { _ in }, of text: String? = nil
  ) throws -> [KeptRendition] {
    guard case .multivariant(let playlist) = try Playlist(Array((text ?? master).utf8)) else {
      throw MadeSegments.Unexpected()
    }
    var selection = RenditionSelection()
    change(&selection)
    return try selection.renditions(of: playlist)
  }

  @Test func bestStereoAndMultichannelRenditionsAreSelected() throws {
    let best = try renditions()
    #expect(best.map(\.uri) == ["hi-en", "ch-en"])
    #expect(best.map(\.bitRate) == [128_000, 192_000])
    #expect(best.map(\.codecs) == [["mp4a.40.2"], ["ec-3"]])
    #expect(best.map(\.label) == ["stereo-128k-en", "6ch-192k-en"])
    #expect(try renditions { $0.wishes.maximumBitRate = 100_000 }.map(\.uri) == ["lo-en"])
    #expect(try renditions { $0.wishes.preference = .stereo }.map(\.uri) == ["hi-en"])
    #expect(try renditions { $0.wishes.language = "de" }.map(\.uri) == ["lo-de"])
    #expect(throws: DownloadError.self) { try renditions { $0.wishes.maximumBitRate = 1000 } }
  }

  @Test func allSelectsEveryMatchingRendition() throws {
    let all = ["lo-en", "lo-de", "hi-en", "ch-en", "x-en"]
    #expect(try renditions { $0.wish = .all }.map(\.uri) == all)
    #expect(
      try renditions {
        $0.wish = .all
        $0.wishes.language = "en"
        $0.wishes.maximumBitRate = 200_000
      }.map(\.uri) == ["lo-en", "hi-en", "ch-en"])
    #expect(
      try renditions {
        $0.wish = .all
        $0.wishes.language = "en-GB"
      }.map(\.uri) == ["lo-en", "hi-en", "ch-en", "x-en"])
  }

  @Test func renditionsAreSelectedByTheirPlaylistNames() throws {
    #expect(
      try renditions { $0.wish = .named(["deutsch", "CH"]) }.map(\.uri) == ["lo-de", "ch-en"])
    #expect(try renditions { $0.wish = .named(["English"]) }.count == 4)
    #expect(try renditions { $0.wish = .named(["English (hi)", "hi"]) }.map(\.uri) == ["hi-en"])
    #expect {
      try renditions { $0.wish = .named(["Suomi"]) }
    } throws: {
      "\($0)"
        == "no rendition is named 'Suomi'; choose from: English (lo), Deutsch (lo), English (hi), "
        + "English (ch), English (x)"
    }
  }

  /// Sound within variants: takes those without video, or else the one with video and the lowest
  /// bit rate.
  @Test func audioOnlyVariantsArePreferredToVideoVariants() throws {
    let mixed = """
      #EXTM3U
      #EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.2"
      a
      #EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="avc1.4d401e,mp4a.40.2",RESOLUTION=640x360
      v
      """
    let audioOnly = try renditions({ $0.wish = .all }, of: mixed)
    #expect(audioOnly.map(\.uri) == ["a"] && audioOnly[0].bitRate == 64000)
    let videoOnly = """
      #EXTM3U
      #EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="avc1.4d401e,mp4a.40.2",RESOLUTION=640x360
      v
      #EXT-X-STREAM-INF:BANDWIDTH=400000,CODECS="avc1.4d401e,mp4a.40.2",RESOLUTION=320x180
      w
      """
    for wish in [RenditionSelection.Wish.all, .best] {
      let chosen = try renditions({ $0.wish = wish }, of: videoOnly)
      #expect(chosen.map(\.uri) == ["w"] && chosen[0].resolution == [320, 180])
      #expect(chosen[0].codecs == ["avc1.4d401e", "mp4a.40.2"])
    }
  }
}
