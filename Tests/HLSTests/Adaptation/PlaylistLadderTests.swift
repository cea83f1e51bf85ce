// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HLS

/// Tests of ladders that are made from complete playlists.
@Suite struct PlaylistLadderTests {
  private func playlist(_ text: String) throws -> MultivariantPlaylist {
    guard case .multivariant(let playlist) = try Playlist(Array("#EXTM3U\n\(text)".utf8)) else {
      throw PlaylistError("no multivariant playlist")
    }
    return playlist
  }

  private func summary(_ ladder: Ladder) -> [String] {
    ladder.map { rendition in
      let kind = rendition.isMultichannel ? "multichannel" : "stereo"
      return "\(rendition.uri) \(Int(rendition.bitRate / 1000)) \(kind)"
    }
  }

  private let audioOnly = """
    #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="ec3",NAME="E",LANGUAGE="en",DEFAULT=YES,CHANNELS="6",URI="e51"
    #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="E",LANGUAGE="en",DEFAULT=YES,CHANNELS="6",URI="a51"
    #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="st",NAME="E",LANGUAGE="en",DEFAULT=YES,CHANNELS="2",URI="st"
    #EXT-X-STREAM-INF:BANDWIDTH=350000,AVERAGE-BANDWIDTH=330000,CODECS="mp4a.40.2",AUDIO="aac"
    a51
    #EXT-X-STREAM-INF:BANDWIDTH=215000,AVERAGE-BANDWIDTH=200000,CODECS="ec-3",AUDIO="ec3"
    e51
    #EXT-X-STREAM-INF:BANDWIDTH=145000,CODECS="mp4a.40.2",AUDIO="st"
    st
    """

  @Test func audioOnlyVariantsGiveExactBitRates() throws {
    let ladder = Ladder(from: try playlist(audioOnly))
    #expect(summary(ladder) == ["st 145 stereo", "e51 200 multichannel", "a51 330 multichannel"])
    #expect(ladder.allSatisfy { !$0.isGuessed })
    #expect(ladder.map(\.channels) == [2, 6, 6])
  }

  @Test func undecodableCodecsAreLeftOut() throws {
    let master = try playlist(audioOnly.replacing("\"ec-3\"", with: "\"ac-4.02.01.00\""))
    #expect(summary(Ladder(from: master)) == ["st 145 stereo", "a51 330 multichannel"])
    let none = Ladder(from: master) { _ in false }
    #expect(none.isEmpty)
  }

  @Test func separateAudioPlaylistsReplaceVideoVariants() throws {
    let ladder = Ladder(
      from: try playlist(
        """
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="s",NAME="E",CHANNELS="6",URI="surround"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="p",NAME="E",CHANNELS="2",URI="plain"
        #EXT-X-STREAM-INF:BANDWIDTH=4000000,CODECS="avc1.42c00a,ec-3",RESOLUTION=640x360,AUDIO="s"
        high
        #EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="avc1.42c00a,ec-3",RESOLUTION=320x180,AUDIO="s"
        low
        #EXT-X-STREAM-INF:BANDWIDTH=100000,CODECS="avc1.42c00a,mp4a.40.2",RESOLUTION=64x36,AUDIO="p"
        least
        """))
    // A guessed bit rate is never above that of the variant that carries the sound.
    #expect(summary(ladder) == ["plain 100 stereo", "surround 192 multichannel"])
    #expect(ladder.map(\.isGuessed) == [true, true])
  }

  @Test func muxedSoundComesFromTheLowestBitRateVariant() throws {
    let ladder = Ladder(
      from: try playlist(
        """
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="s",NAME="E",CHANNELS="6"
        #EXT-X-STREAM-INF:BANDWIDTH=4000000,CODECS="avc1.42c00a,ec-3",RESOLUTION=640x360,AUDIO="s"
        high
        #EXT-X-STREAM-INF:BANDWIDTH=900000,AVERAGE-BANDWIDTH=800000,CODECS="avc1.42c00a,ec-3",\
        AUDIO="s"
        low
        #EXT-X-STREAM-INF:BANDWIDTH=700000,CODECS="avc1.42c00a,mp4a.40.2",RESOLUTION=320x180
        stereo
        #EXT-X-STREAM-INF:BANDWIDTH=300000,CODECS="avc1.42c00a",RESOLUTION=64x36
        silent
        """))
    #expect(summary(ladder) == ["stereo 700 stereo", "low 800 multichannel"])
  }

  @Test func videoVariantsAreDroppedIfAudioOnlyOnesExist() throws {
    let ladder = Ladder(
      from: try playlist(
        """
        #EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.5"
        sound64
        #EXT-X-STREAM-INF:BANDWIDTH=128000,CODECS="mp4a.40.2"
        sound128
        #EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="avc1.42c00a,mp4a.40.2",RESOLUTION=320x180
        film
        """))
    #expect(summary(ladder) == ["sound64 64 stereo", "sound128 128 stereo"])
  }

  @Test func binauralRenditionIsUsedOnlyWithoutAlternatives() throws {
    let binaural = """
      #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="B",CHANNELS="2/-/BINAURAL",URI="ears"
      #EXT-X-STREAM-INF:BANDWIDTH=140000,CODECS="mp4a.40.2",AUDIO="b"
      ears
      """
    #expect(summary(Ladder(from: try playlist(binaural))) == ["ears 140 stereo"])
    let both = try playlist("\(binaural)\n\(audioOnly)")
    #expect(Ladder(from: both) == Ladder(from: try playlist(audioOnly)))
  }

  @Test(
    arguments: [
      (nil, "en"), ("de", "de"), ("DE-AT", "de"), ("fr", "en"), ("pt", "pt"),
    ] as [(String?, String)])
  func oneLanguageIsSelected(wanted: String?, selected: String) throws {
    let master = try playlist(
      """
      #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="D",LANGUAGE="de",AUTOSELECT=YES,CHANNELS="2",\
      URI="de"
      #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",LANGUAGE="en",DEFAULT=YES,CHANNELS="2",URI="en"
      #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="C",LANGUAGE="en",CHANNELS="2",URI="comment"
      #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="A",LANGUAGE="en",AUTOSELECT=YES,CHANNELS="2",\
      CHARACTERISTICS="public.accessibility.describes-video",URI="described"
      #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="P",LANGUAGE="pt-BR",CHANNELS="2",URI="pt"
      #EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="avc1.42c00a,mp4a.40.2",RESOLUTION=64x36,AUDIO="a"
      film
      """)
    #expect(Ladder(from: master, language: wanted).map(\.uri) == [selected])
  }

  @Test func groupsWithoutTheLanguageAreLeftOut() throws {
    let master = try playlist(
      audioOnly.replacing(
        #"GROUP-ID="st",NAME="E",LANGUAGE="en""#, with: #"GROUP-ID="st",NAME="E",LANGUAGE="fr""#))
    #expect(Ladder(from: master).map(\.uri) == ["e51", "a51"])
    #expect(Ladder(from: master, language: "fr").map(\.uri) == ["st"])
  }

  @Test func missingChannelsAttributeIsInferredFromTheCodec() throws {
    let ladder = Ladder(
      from: try playlist(
        """
        #EXT-X-STREAM-INF:BANDWIDTH=250000,CODECS="ec-3"
        dolby
        #EXT-X-STREAM-INF:BANDWIDTH=90000,CODECS="opus"
        opus
        #EXT-X-STREAM-INF:BANDWIDTH=50000
        unknown
        """))
    #expect(
      summary(ladder) == ["unknown 50 stereo", "opus 90 stereo", "dolby 250 multichannel"])
  }

  @Test func ambisonicsIsMultichannel() throws {
    let ladder = Ladder(
      from: try playlist(
        """
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="f",NAME="F",CHANNELS="4/1OA",URI="foa"
        #EXT-X-STREAM-INF:BANDWIDTH=250000,CODECS="opus",AUDIO="f"
        foa
        """))
    #expect(summary(ladder) == ["foa 250 multichannel"])
  }
}
