// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HLS

@Suite struct PlaylistFollowerTests {
  private func playlist(
    _ numbers: Range<Int>, target: Double = 4, seconds: Double? = nil, hasEnded: Bool = false,
    start: PlaylistStart? = nil
  ) -> MediaPlaylist {
    var playlist = MediaPlaylist()
    playlist.targetDuration = target
    playlist.mediaSequence = numbers.lowerBound
    playlist.hasEnded = hasEnded
    playlist.start = start
    playlist.segments = numbers.map {
      MediaSegment(uri: "\($0).ts", duration: seconds ?? target, sequence: $0)
    }
    return playlist
  }

  @Test func playlistIsReloadedWhenTheNextSegmentIsDue() {
    var follower = PlaylistFollower(playlist(0..<5), at: 100)
    // The next segment appears within the next 4 s. The first attempt is in the middle of them, the
    // second at the end.
    #expect(follower.nextLoad == 102)
    follower.take(nil, at: 102)
    #expect(follower.nextLoad == 104)
    follower.take(playlist(0..<5), at: 104)
    #expect(follower.nextLoad == 104.25)
    follower.take(playlist(0..<5), at: 104.25)
    #expect(follower.nextLoad == 104.75)
    follower.take(playlist(1..<6), at: 104.75)
    follower.fail(at: 109)
    #expect(follower.nextLoad == 111)
    follower.take(playlist(2..<7, hasEnded: true), at: 111)
    #expect(follower.nextLoad == nil)
  }

  /// The first load can be at any time within a segment. The follower soon finds segments when they
  /// appear, with few more loads than segments and never many in quick succession.
  @Test(arguments: [0.05, 0.4, 1, 1.9, 3, 3.8], [0.9995, 1, 1.0005])
  func reloadTimesAdaptToWhenSegmentsAppear(first: Double, clock: Double) throws {
    let pause = 3.84 * clock
    var now = first
    func newest() -> Int { 3 + Int(now / pause) }
    var follower = PlaylistFollower(playlist(newest() - 3..<newest(), seconds: 3.84), at: now)
    var delays: [Double] = []
    var loads: [Double] = []
    while now < 600 {
      now = max(now, try #require(follower.nextLoad)) + 0.02
      loads.append(now)
      let before = follower.playlist.end
      follower.take(playlist(newest() - 3..<newest(), seconds: 3.84), at: now)
      if follower.playlist.end > before { delays.append(now - Double(newest() - 3) * pause) }
    }
    let learned = delays.dropFirst(6)
    #expect(learned.reduce(0, +) / Double(learned.count) < 0.35, "late by \(delays)")
    #expect(learned.allSatisfy { $0 < 0.8 }, "late by \(delays)")
    #expect(Double(loads.count) < 1.4 * 600 / 3.84, "\(loads.count) loads")
    #expect(zip(loads, loads.dropFirst(4)).allSatisfy { $1 - $0 > 1 })
  }

  /// The server publishes a segment every 3.84 s, and the player is sometimes busy for 9 s.
  @Test func newSegmentsAreFoundSoonDespiteStalls() throws {
    var follower = PlaylistFollower(playlist(0..<3, seconds: 3.84), at: 0.01)
    var now = 0.01
    var delays: [Double] = []
    for round in 0..<200 {
      now = max(now, try #require(follower.nextLoad)) + 0.03
      if round % 20 == 10 { now += 9 }
      let newest = 3 + Int(now / 3.84)
      let before = follower.playlist.end
      follower.take(playlist(newest - 3..<newest, seconds: 3.84), at: now)
      if follower.playlist.end == before + 1 { delays.append(now - Double(newest - 3) * 3.84) }
    }
    let percentile80 = delays.sorted()[delays.count * 8 / 10]
    #expect(percentile80 < 0.7, "late by \(delays)")
  }

  @Test func stalenessCountsFromTheLastNewSegment() {
    var follower = PlaylistFollower(playlist(0..<5), at: 0)
    #expect(follower.staleness(at: 6) == 0)
    follower.take(playlist(0..<5), at: 6)
    #expect(follower.staleness(at: 20) == 14)
    follower.take(playlist(1..<6), at: 20)
    #expect(follower.staleness(at: 20) == 0)
    #expect(PlaylistFollower(playlist(0..<5, hasEnded: true), at: 0).staleness(at: 1000) == 0)
  }

  @Test func olderPlaylistIsIgnoredUnlessTheServerRestarted() {
    var follower = PlaylistFollower(playlist(10..<15), at: 0)
    follower.take(playlist(8..<13), at: 4)
    #expect(follower.playlist.mediaSequence == 10)
    // A server that restarts counts from 0 again.
    follower.take(playlist(1000..<1005), at: 8)
    follower.take(playlist(0..<5), at: 12)
    #expect(follower.playlist.mediaSequence == 0)
  }

  @Test func segmentsAreFoundBySequenceNumber() {
    let follower = PlaylistFollower(playlist(10..<15), at: 0)
    #expect(follower.segment(9) == nil && follower.segment(15) == nil)
    #expect(follower.segment(12)?.uri == "12.ts")
  }

  @Test func livePlaybackStartsThreeTargetDurationsBeforeTheEnd() {
    #expect(PlaylistFollower(playlist(10..<20), at: 0).start == (17, 0))
    #expect(PlaylistFollower(playlist(10..<12), at: 0).start == (10, 0))
    #expect(PlaylistFollower(playlist(10..<20, hasEnded: true), at: 0).start == (10, 0))
    #expect(PlaylistFollower(playlist(10..<10), at: 0).start == (10, 0))
    var withHoldBack = playlist(10..<20)
    withHoldBack.holdBack = 20
    #expect(PlaylistFollower(withHoldBack, at: 0).start == (15, 0))
    var event = playlist(0..<20)
    event.kind = .event
    #expect(PlaylistFollower(event, at: 0).start == (0, 0))
  }

  @Test(arguments: [
    (5.0, false, 1, 0.0), (5.0, true, 1, 1.0), (-6.0, true, 8, 2.0), (-600, true, 0, 0),
    (600, true, 9, 4), (0, true, 0, 0),
  ])
  func startTagSetsTheStartOfPlayback(
    offset: Double, isPrecise: Bool, sequence: Int, skipped: Double
  ) {
    let start = PlaylistStart(offset: offset, isPrecise: isPrecise)
    let follower = PlaylistFollower(playlist(0..<10, hasEnded: true, start: start), at: 0)
    #expect(follower.start == (sequence, skipped))
  }
}
