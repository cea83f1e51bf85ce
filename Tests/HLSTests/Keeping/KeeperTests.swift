// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import HLS

@Suite struct KeeperTests {
  private let made = TemporaryFolder()
  private var path: String { made.path + "/kept" }

  private func keeper(
    _ source: String = "http://h/m.m3u8", clock: @escaping @Sendable () -> Double = { 0 }
  ) throws -> PresentationKeeper {
    try PresentationKeeper(folder: path, source: source, now: clock)
  }

  @Test func crc32MatchesTheCheckValue() {
    #expect(CRC32.of(Array("123456789".utf8)) == 0xCBF4_3926)
    #expect(CRC32.of([]) == 0)
  }

  @Test func keptSegmentsFormAValidPresentation() throws {
    let keeper = try keeper()
    var rendition = MadeSegments.rendition()
    rendition.language = "en"
    rendition.codecs = ["mp4a.40.2"]
    for number in [7, 5, 6] {
      let body = MadeSegments.stream(UInt64(number))
      #expect(
        keeper.keep(MadeSegments.segment(number, seconds: 3.84), body: body, of: rendition) == nil)
    }
    #expect(keeper.finish() == nil && keeper.problem == nil)
    let playlist = try MadeSegments.media(path + "/stereo-128k-en/playlist.m3u8")
    #expect(playlist.segments.map(\.uri) == ["00005.ts", "00006.ts", "00007.ts"])
    #expect(playlist.mediaSequence == 5 && playlist.kind == .onDemand && playlist.hasEnded)
    #expect(playlist.targetDuration == 4 && abs(playlist.duration - 11.52) < 1e-9)
    #expect(try MadeSegments.bytes(path + "/stereo-128k-en/00006.ts") == MadeSegments.stream(6))
    let master = try MadeSegments.master(path)
    let entry = try #require(master.renditions.first)
    #expect(entry.name == "Sound" && entry.language == "en" && entry.isDefault)
    #expect(entry.channels?.count == 2 && entry.uri == "stereo-128k-en/playlist.m3u8")
    #expect(master.variants.map(\.codecs) == [["mp4a.40.2"]])
    #expect(master.variants[0].averageBandwidth == Int((752 * 8 / 3.84).rounded(.up)))
    try expectValidPresentation(path)
  }

  @Test func keptRenditionsFormALadderForEachLanguage() throws {
    let keeper = try keeper()
    var surround = MadeSegments.rendition("e51.m3u8", channels: "6", bitRate: 192_000)
    surround.codecs = ["ec-3"]
    var german = MadeSegments.rendition("de.m3u8")
    (german.language, german.group, german.name) = ("de", "st", "Deutsch")
    var english = MadeSegments.rendition("en.m3u8")
    (english.language, english.group, english.isDefault) = ("en", "st", true)
    for (index, rendition) in [surround, german, english].enumerated() {
      let body = MadeSegments.stream(UInt64(index), packets: index == 0 ? 600 : 300)
      keeper.keep(MadeSegments.segment(0), body: body, of: rendition)
    }
    keeper.finish()
    let master = try MadeSegments.master(path)
    #expect(master.variants.count == 2 && master.renditions.count == 3)
    let ladder = Ladder(from: master, language: "de")
    #expect(
      ladder.map(\.uri) == ["stereo-128k-de/playlist.m3u8", "6ch-192k/playlist.m3u8"])
    #expect(ladder.map(\.isMultichannel) == [false, true])
    let englishLadder = Ladder(from: master, language: "en")
    #expect(englishLadder.first?.uri == "stereo-128k-en/playlist.m3u8")
  }

  @Test func missingSegmentsBecomeGapsOfTheRightDuration() throws {
    let keeper = try keeper()
    let (first, second) = (
      MadeSegments.rendition(), MadeSegments.rendition("b.m3u8", channels: "6")
    )
    var server = MediaPlaylist()
    server.segments = (10..<20).map { MadeSegments.segment($0, seconds: Double($0) / 4) }
    server.segments[3].programDate = ProgramDate(seconds: 1_000_000)
    keeper.follow(server, of: first)
    for number in [10, 11, 15] {
      let body = MadeSegments.stream(UInt64(number))
      keeper.keep(server.segments[number - 10], body: body, of: first)
    }
    keeper.keep(server.segments[5], body: MadeSegments.stream(99), of: second)
    keeper.finish()
    let playlist = try MadeSegments.media(path + "/stereo-128k/playlist.m3u8")
    #expect(playlist.segments.map(\.duration) == [2.5, 2.75, 3, 3.25, 3.5, 3.75])
    #expect(playlist.segments.map(\.isGap) == [false, false, true, true, true, false])
    #expect(playlist.segments[3].programDate == ProgramDate(seconds: 1_000_000))
    #expect(playlist.version == 8)
    // Both playlists begin at the same time. A gap of unknown duration gets that of the next
    // segment.
    let other = try MadeSegments.media(path + "/6ch-128k/playlist.m3u8")
    #expect(other.mediaSequence == 10 && other.segments.count == 6)
    #expect(other.segments.prefix(5).allSatisfy { $0.isGap && $0.duration == 3.75 })
    try expectValidPresentation(path)
  }

  @Test func mapsAreWrittenOnceAndDiscontinuitiesAreKept() throws {
    let keeper = try keeper()
    let rendition = MadeSegments.rendition()
    let maps = [MadeSegments.box("ftyp", [1]), MadeSegments.box("ftyp", [2])]
    for number in 0..<6 {
      let part = number / 2 % 2
      keeper.keep(
        MadeSegments.segment(number, discontinuity: 7 + number / 2),
        body: MadeSegments.fragment(UInt8(number)), map: maps[part], of: rendition)
    }
    keeper.finish()
    let playlist = try MadeSegments.media(path + "/stereo-128k/playlist.m3u8")
    #expect(playlist.segments.map(\.discontinuity) == [7, 7, 8, 8, 9, 9])
    #expect(playlist.discontinuitySequence == 7 && playlist.version == 6)
    let names = playlist.segments.compactMap(\.map?.uri)
    #expect(names.count == 6 && Set(names).count == 2 && names[0] == names[4])
    for (name, map) in zip([names[0], names[2]], maps) {
      #expect(try MadeSegments.bytes(path + "/stereo-128k/" + name) == map)
    }
    #expect(MadeSegments.names(path + "/stereo-128k").filter { $0.hasPrefix("init") }.count == 2)
    try expectValidPresentation(path)
  }

  /// A hostile playlist can neither refer to anything outside the folder nor make the written
  /// playlists endless.
  @Test func hostileNamesAndNumbersAreSanitised() throws {
    let keeper = try keeper()
    for (index, uri) in ["../../x", "/etc/passwd", "..", "a\u{0}b", ".."].enumerated() {
      var rendition = MadeSegments.rendition("\(uri)\(index)", channels: nil, bitRate: 1e300)
      rendition.name = "../\"x\n#EXT-X-ENDLIST{$y}"
      rendition.language = "../" + String(repeating: "é/", count: 50)
      rendition.codecs = ["../a\",b"]
      keeper.keep(
        MadeSegments.segment(index, uri: uri), body: MadeSegments.stream(1), of: rendition)
    }
    let far = MadeSegments.rendition("far")
    for (number, discontinuity) in [(0, 0), (1, 1 << 60), (1 << 60, 3), ((1 << 60) + 1, 3)] {
      keeper.keep(
        MadeSegments.segment(number, discontinuity: discontinuity), body: MadeSegments.stream(1),
        of: far)
    }
    keeper.finish()
    #expect(keeper.problem == nil)
    #expect(MadeSegments.names(made.path) == ["kept"])
    #expect(
      MadeSegments.names(path).allSatisfy { name in
        name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-.".contains($0)) }
      })
    let master = try MadeSegments.master(path)
    #expect(master.renditions.count == 6)
    let playlist = try MadeSegments.media(path + "/stereo-128k/playlist.m3u8")
    #expect(playlist.segments.map(\.discontinuity) == [0, 1, 2, 2])
    try expectValidPresentation(path)
  }

  @Test func invalidSegmentsAreNotKept() throws {
    let keeper = try keeper()
    let rendition = MadeSegments.rendition()
    keeper.keep(MadeSegments.segment(0), body: Array("<html>".utf8), of: rendition)
    keeper.keep(
      MadeSegments.segment(1), body: MadeSegments.stream(1).dropLast().map(\.self), of: rendition)
    keeper.keep(MadeSegments.segment(2), body: [], of: rendition)
    keeper.keep(MadeSegments.segment(-3), body: MadeSegments.stream(1), of: rendition)
    keeper.finish()
    #expect(MadeSegments.names(path) == ["kept.json"])
  }

  /// Playlists are written at most once per second, and after the files that they list.
  @Test func presentationIsValidAfterEverySegment() throws {
    let time = Mutex(0.0)
    let keeper = try keeper(clock: { time.withLock { $0 } })
    let rendition = MadeSegments.rendition()
    var counts: [Int] = []
    for number in 0..<10 {
      keeper.keep(
        MadeSegments.segment(number), body: MadeSegments.stream(UInt64(number)), of: rendition)
      counts.append(try expectValidPresentation(path).values.first?.count ?? 0)
      time.withLock { $0 += 0.4 }
    }
    #expect(counts == [1, 1, 1, 4, 4, 4, 7, 7, 7, 10])
  }

  @Test func concurrentWritesKeepAllSegments() async throws {
    let keeper = try keeper()
    await withTaskGroup(of: Void.self) { group in
      for part in 0..<4 {
        group.addTask {
          for number in stride(from: part, to: 40, by: 4) {
            keeper.keep(
              MadeSegments.segment(number), body: MadeSegments.stream(UInt64(number)),
              of: MadeSegments.rendition("r\(number % 3)"))
          }
        }
      }
    }
    keeper.finish()
    let found = try expectValidPresentation(path)
    #expect(found.values.reduce(0) { $0 + $1.count { !$0.isGap } } == 40)
  }
}
