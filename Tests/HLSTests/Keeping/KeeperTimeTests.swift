// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import HLS

/// Segments keep their time, whichever are kept, in any order and in any number of runs.
@Suite struct KeeperTimeTests {
  private func server(_ random: inout SeededGenerator) -> MediaPlaylist {
    var playlist = MediaPlaylist()
    playlist.mediaSequence = Int.random(in: 0...1_000_000, using: &random)
    var discontinuity = Int.random(in: 0...9, using: &random)
    for number in 0..<Int.random(in: 1...60, using: &random) {
      if Int.random(in: 0..<8, using: &random) == 0 { discontinuity += 1 }
      var segment = MadeSegments.segment(
        playlist.mediaSequence + number,
        seconds: Double(Int.random(in: 1...10_000, using: &random)) / 1000,
        discontinuity: discontinuity)
      if Int.random(in: 0..<5, using: &random) == 0 {
        segment.programDate = ProgramDate(
          seconds: Double(Int.random(in: 0...2_000_000_000, using: &random)))
      }
      playlist.segments.append(segment)
    }
    return playlist
  }

  @Test(arguments: 0..<30 as Range<UInt64>)
  func segmentsKeepDurationDateAndDiscontinuity(seed: UInt64) throws {
    let made = TemporaryFolder()
    var random = SeededGenerator(seed)
    let server = server(&random)
    let renditions = [MadeSegments.rendition(), MadeSegments.rendition("b.m3u8", channels: "6")]
    var keeper: PresentationKeeper? = try .init(folder: made.file("kept"), source: "x")
    var kept = [Set<Int>(), []]
    for segment in server.segments.shuffled(using: &random) {
      if Int.random(in: 0..<10, using: &random) == 0 {
        keeper?.finish()
        keeper = nil
        keeper = try .init(folder: made.file("kept"), source: "x")
      }
      let which = Int.random(in: 0...2, using: &random)
      guard which < 2 else { continue }
      for rendition in renditions { keeper?.follow(server, of: rendition) }
      let body = MadeSegments.stream(UInt64(segment.sequence), packets: 2)
      #expect(keeper?.keep(segment, body: body, of: renditions[which]) == nil)
      kept[which].insert(segment.sequence)
    }
    keeper?.finish()
    guard let first = kept.joined().min() else { return }
    let found = try expectValidPresentation(made.file("kept"))
    for (numbers, folder) in zip(kept, ["stereo-128k", "6ch-128k"]) where !numbers.isEmpty {
      // The multivariant playlist does not list a rendition with gaps beside one without.
      let name = folder + "/playlist.m3u8"
      let segments = try found[name] ?? MadeSegments.media(made.file("kept/" + name)).segments
      #expect(Set(segments.filter { !$0.isGap }.map(\.sequence)) == numbers)
      #expect(segments.map(\.sequence) == Array(first...(numbers.max() ?? first)))
      let original = server.segments.filter { $0.sequence >= first }
      for (written, source) in zip(segments, original) {
        #expect(abs(written.duration - source.duration) < 1e-9)
        #expect(written.discontinuity == source.discontinuity)
        #expect(written.programDate == source.programDate)
      }
    }
  }

  @Test func laterRunKeepsGapDurations() throws {
    let made = TemporaryFolder()
    let path = made.file("kept")
    let (first, second) = (
      MadeSegments.rendition(), MadeSegments.rendition("b.m3u8", channels: "6")
    )
    var server = MediaPlaylist()
    server.segments = [1, 2, 3, 4].map { MadeSegments.segment($0, seconds: Double($0)) }
    var keeper: PresentationKeeper? = try .init(folder: path, source: "x")
    keeper?.follow(server, of: second)
    for number in [1, 3] {
      keeper?.keep(server.segments[number], body: MadeSegments.stream(1), of: second)
    }
    keeper?.finish()
    keeper = nil
    keeper = try .init(folder: path, source: "x")
    keeper?.keep(server.segments[0], body: MadeSegments.stream(1), of: first)
    keeper?.finish()
    let playlist = try MadeSegments.media(path + "/6ch-128k/playlist.m3u8")
    // The duration of the gap before the first kept segment is no longer known.
    #expect(playlist.segments.map(\.duration) == [2, 2, 3, 4])
    #expect(playlist.segments.map(\.isGap) == [true, false, true, false])
  }

  /// Keeps every other one of two days of segments, and reads the playlist and the record back.
  @Test func twoDaysOfSegmentsAreKept() throws {
    let made = TemporaryFolder()
    var timeline = KeptTimeline()
    let file = KeptFile(name: "00000.ts", MadeSegments.stream(1))
    for number in stride(from: 0, to: 43_200, by: 2) {
      timeline.take(KeptSegment(MadeSegments.segment(number), file: file, map: nil))
    }
    guard case .media(let playlist) = try Playlist(Array(timeline.playlist(from: 0).text.utf8))
    else { throw MadeSegments.Unexpected() }
    #expect(playlist.segments.count == 43_199 && playlist.duration == 4 * 43_199)
    let record = KeptSegments(timeline.segments.values.sorted { $0.number < $1.number })
    try MadeSegments.put(record.json, made.file("kept.json"))
    #expect(KeptSegments(try MadeSegments.bytes(made.file("kept.json")))?.segments.count == 21_600)
  }
}
