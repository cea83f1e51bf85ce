// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HLS

@Suite struct RenditionTimelineTests {
  private func playlist(
    _ numbers: Range<Int>, seconds: Double = 3.84, date: Double? = nil
  ) -> MediaPlaylist {
    var playlist = MediaPlaylist()
    playlist.targetDuration = 4
    playlist.mediaSequence = numbers.lowerBound
    playlist.segments = numbers.map { MediaSegment(uri: "\($0)", duration: seconds, sequence: $0) }
    if let date { playlist.segments[0].programDate = ProgramDate(seconds: date) }
    return playlist
  }

  private func timeline(_ playlist: MediaPlaylist, origin: Double = 0) -> RenditionTimeline {
    RenditionTimeline(playlist, address: .file("/p"), origin: origin, at: 0)
  }

  @Test(arguments: [1, 3, 5, 40]) func timelineAdvancesWithThePlaylist(_ step: Int) {
    for dates in [false, true] {
      var timeline = timeline(playlist(0..<5, date: dates ? 1000 : nil))
      let date = dates ? 1000 + 3.84 * Double(step) : nil
      timeline.take(playlist(step..<step + 5, date: date), at: 4)
      let next = timeline.segment(at: Double(step) * 3.84 + 0.001)
      #expect(next?.segment.sequence == step)
      #expect(abs((next?.start ?? 0) - Double(step) * 3.84) < 1e-6)
    }
  }

  @Test func renditionsAreAlignedByDateNumberOrLiveEnd() {
    let timeline = timeline(playlist(10..<15, date: 500), origin: 38.4)
    #expect(abs(timeline.origin(of: playlist(12..<17)) - 46.08) < 1e-9)
    #expect(abs(timeline.origin(of: playlist(8..<13)) - 30.72) < 1e-9)
    // Program dates take precedence over sequence numbers.
    #expect(abs(timeline.origin(of: playlist(70..<75, date: 503.84)) - 42.24) < 1e-9)
    // Without dates and overlapping numbers, the live ends are aligned.
    #expect(abs(timeline.origin(of: playlist(90..<93)) - (timeline.end - 3 * 3.84)) < 1e-9)
  }

  @Test(
    "A last segment of almost no duration does not stop the alignment",
    arguments: [(8, 46.08), (12, 61.44)])
  func alignmentWithAVeryShortSegment(_ first: Int, end: Double) {
    let other = timeline(playlist(10..<15), origin: 38.4)
    var short = playlist(first..<first + 5)
    short.segments[4].duration = 1.16e-20
    var timeline = timeline(short)
    timeline.align(to: other, at: 1)
    #expect(abs(timeline.end - end) < 1e-6)
  }

  @Test func segmentThatIsAboutToEndIsSkipped() {
    let timeline = timeline(playlist(0..<3))
    #expect(timeline.segment(at: 3.7)?.segment.sequence == 1)
    #expect(timeline.segment(at: 3.5)?.segment.sequence == 0)
    #expect(timeline.segment(at: 11.52) == nil)
  }
}
