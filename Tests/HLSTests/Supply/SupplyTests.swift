// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import HLS

/// A simulated server, listener and clock.
final class SimulatedServer: ResourceFetcher {
  struct State {
    var now = 0.0
    var bodies: [String: [UInt8]] = [:]
    var faults: [String: [FetchError]] = [:]
    /// Errors that are returned for ever once `faults` are used up.
    var lasting: [String: FetchError] = [:]
    var requests: [String] = []
    /// Throughput in bit/s.
    var rate = 1e6
    /// The time in which the throughput has another value.
    var slow: (when: Range<Double>, rate: Double)?
    var rateNow: Double { slow.map { $0.when.contains(now) ? $0.rate : rate } ?? rate }
    var liveStart: Double?
    /// The time in which the live playlist does not change.
    var stop: Range<Double>?
  }

  let state = Mutex(State())
  static let segmentSeconds = 4.0

  func set(_ name: String, _ body: [UInt8]) {
    state.withLock { $0.bodies["http://h/" + name] = body }
  }
  func set(_ name: String, _ text: String) { set(name, Array(text.utf8)) }
  func fail(_ name: String, _ errors: [FetchError], always: FetchError? = nil) {
    state.withLock { state in
      state.faults["http://h/" + name] = errors
      state.lasting["http://h/" + name] = always
    }
  }
  var requests: [String] { state.withLock { $0.requests.map { String($0.dropFirst(9)) } } }
  var now: Double { state.withLock { $0.now } }
  func wait(_ seconds: Double) { state.withLock { $0.now += max(seconds, 0.001) } }

  func fetch(
    _ request: FetchRequest, goesOn: (FetchTiming) -> Bool
  ) throws(FetchError) -> FetchedResource {
    let address = request.address.description
    let (body, error) = state.withLock { state -> ([UInt8]?, FetchError?) in
      state.requests.append(address)
      state.now += 0.02
      if state.faults[address]?.isEmpty == false {
        return (nil, state.faults[address]?.removeFirst())
      }
      return (state.bodies[address], state.lasting[address])
    }
    if let error { throw error }
    guard var bytes = body else { throw .status(404, retryAfter: nil) }
    if let live = liveText(address) { bytes = live }
    let start = now
    var sent = 0.0
    var timing = FetchTiming(bytes: 0, seconds: 0, firstByte: 0.0, expected: bytes.count)
    while timing.bytes < bytes.count {
      guard goesOn(timing) else { throw .abandoned(timing) }
      wait(0.1)
      timing.seconds = now - start
      sent += 0.1 * state.withLock { $0.rateNow } / 8
      timing.bytes = min(bytes.count, Int(sent))
    }
    return FetchedResource(bytes: bytes, timing: timing, address: request.address)
  }

  /// A live playlist that follows the clock.
  private func liveText(_ address: String) -> [UInt8]? {
    guard address.hasSuffix("/p.m3u8"), let start = state.withLock({ $0.liveStart }) else {
      return nil
    }
    let stop = state.withLock { $0.stop }
    let time = stop.map { now < $0.upperBound ? min(now, $0.lowerBound) : now } ?? now
    let newest = 3 + Int((time - start) / Self.segmentSeconds)
    let first = max(0, newest - 5)
    var text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:\(first)\n"
    for number in first..<newest { text += "#EXTINF:4,\n\(number).ts\n" }
    return Array(text.utf8)
  }
}

@Suite struct SupplyTests {
  let server = SimulatedServer()
  private static let seconds = SimulatedServer.segmentSeconds

  /// Transport packets with this bit rate, in bit/s, for one segment.
  private func body(_ bitRate: Double) -> [UInt8] {
    let packets = Int(bitRate * Self.seconds / 8 / 188)
    return [UInt8]((0..<packets * 188).map { $0 % 188 == 0 ? 0x47 : UInt8($0 % 251) })
  }

  /// Publishes two renditions of `count` segments: `low` with 64 kbit/s stereo, and `high` with 256
  /// kbit/s 5.1.
  func publish(_ count: Int) {
    server.set(
      "m.m3u8",
      """
      #EXTM3U
      #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="h",NAME="a",CHANNELS="6",URI="high/p.m3u8"
      #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="l",NAME="a",CHANNELS="2",URI="low/p.m3u8"
      #EXT-X-STREAM-INF:BANDWIDTH=256000,CODECS="ec-3",AUDIO="h"
      high/p.m3u8
      #EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.2",AUDIO="l"
      low/p.m3u8
      """)
    for (name, rate) in [("low", 64e3), ("high", 256e3)] {
      var text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n"
      for number in 0..<count {
        text += "#EXTINF:4,\n\(number).ts\n"
        server.set("\(name)/\(number).ts", body(rate))
      }
      server.set("\(name)/p.m3u8", text + "#EXT-X-ENDLIST\n")
    }
  }

  func opened() throws -> OpenPresentation {
    let loader = PlaylistLoader(server, folder: nil)
    return try OpenPresentation(
      loader.open(.network("http://h/m.m3u8")), loader: loader, fetcher: server,
      wishes: RenditionWishes(), describe: { _ in nil }, goesOn: { true })
  }

  /// Fetches until the end or for `until` s. Playback starts as soon as the rule allows it.
  func run(
    until end: Double = 1000, rule: @escaping @Sendable (Ladder) -> any AdaptationRule,
    meanwhile: @escaping @Sendable (SegmentQueue, Double) -> Void = { _, _ in }
  ) throws -> (items: [QueuedSegment], queue: SegmentQueue) {
    let presentation = try opened()
    let server = server
    let played = Mutex(0.0)
    let last = Mutex(0.0)
    let queueBox = Mutex<SegmentQueue?>(nil)
    let supply = SegmentSupply(
      presentation, clock: { server.now },
      pause: { seconds in
        server.wait(seconds)
        guard let queue = queueBox.withLock({ $0 }) else { return }
        let step = server.now - last.withLock { $0 }
        last.withLock { $0 = server.now }
        if queue.mayStart { played.withLock { $0 += step } }
        let position = played.withLock { $0 }
        queue.advance(read: position + 2, heard: position)
        meanwhile(queue, position)
      }, rule: { rule(presentation.ladder) })
    queueBox.withLock { $0 = supply.queue }
    supply.run { supply.queue.hasEnded || server.now > end }
    var items: [QueuedSegment] = []
    var number = supply.queue.first ?? 0
    while let item = supply.queue.segment(number) {
      items.append(item)
      number += 1
    }
    return (items, supply.queue)
  }

  @Test func highThroughputSuppliesMultichannelInOrder() throws {
    publish(12)
    let (items, queue) = try run { RenditionChoice(ladder: $0) }
    #expect(items.map(\.number) == Array(0..<12))
    #expect(items.map(\.start) == (0..<12).map { Double($0) * 4 })
    #expect(items.allSatisfy { $0.rendition == 1 && $0.supplied[1] != nil })
    #expect(queue.failure == nil && queue.duration == 48)
  }

  @Test func lowThroughputFetchesOnlyTheStereoRendition() throws {
    publish(10)
    server.state.withLock { $0.rate = 100e3 }
    let (items, _) = try run { RenditionChoice(ladder: $0) }
    #expect(items.count == 10 && items.allSatisfy { $0.rendition == 0 })
    #expect(!server.requests.contains { $0.hasPrefix("high") })
  }

  /// The second segment takes 6 s, and the first one has arrived after 1 s.
  @Test func playbackStartsWithoutWaitingForASlowSegment() throws {
    publish(6)
    server.state.withLock { ($0.rate, $0.slow) = (256e3, (1.3..<20, 80e3)) }
    let server = server
    let presentation = try opened()
    let began = Mutex<Double?>(nil)
    let supply = Mutex<SegmentSupply?>(nil)
    let made = SegmentSupply(
      presentation,
      clock: {
        let now = server.now
        if supply.withLock({ $0?.queue.mayStart }) == true {
          began.withLock { $0 = $0 ?? now }
        }
        return now
      }, pause: { server.wait($0) }, rule: { RenditionChoice(ladder: presentation.ladder) })
    supply.withLock { $0 = made }
    made.run { server.now > 15 }
    #expect(try #require(began.withLock { $0 }) < 3)
  }

  @Test func missingSegmentIsTakenFromTheOtherRendition() throws {
    publish(6)
    server.fail("high/3.ts", [], always: .status(404, retryAfter: nil))
    let (items, queue) = try run { _ in FixedRendition(1) }
    #expect(items.map(\.rendition) == [1, 1, 1, 0, 1, 1])
    #expect(items[3].reason == "a segment could not be loaded")
    #expect(queue.takeWarnings().count { $0.contains("404") } == 1)
    // Requested once in its turn, and once to fade from the other rendition.
    #expect(server.requests.filter { $0 == "high/3.ts" }.count == 2)
  }

  @Test func transientErrorsAreRetried() throws {
    publish(4)
    server.fail("high/2.ts", [.status(503, retryAfter: nil), .connection("reset")])
    let (items, queue) = try run { _ in FixedRendition(1) }
    #expect(items.map(\.rendition) == [1, 1, 1, 1] && queue.failure == nil)
  }

  @Test func segmentWithoutSoundBecomesAGap() throws {
    publish(6)
    for rendition in ["low", "high"] { server.set("\(rendition)/2.ts", "<html>busy</html>") }
    let (items, queue) = try run { _ in FixedRendition(1) }
    #expect(items.map(\.rendition) == [1, 1, nil, 1, 1, 1])
    #expect(items[2].problem?.contains("HTML") == true)
    #expect(items[2].start == 8 && items[2].duration == 4 && items[3].start == 12)
    #expect(queue.failure == nil)
  }

  @Test func lostServerIsRetriedAndThenEndsTheSupply() throws {
    publish(40)
    for rendition in ["low", "high"] {
      for number in 5..<40 {
        server.fail("\(rendition)/\(number).ts", [], always: .connection("nobody answers"))
      }
    }
    let (items, queue) = try run { RenditionChoice(ladder: $0) }
    #expect(items.count == 5)
    #expect(queue.failure?.contains("could not be loaded from the server") == true)
    #expect(server.now > 45 && server.now < 90)
  }

  @Test func serverThatIsTooSlowEndsTheSupplyAtOnce() throws {
    publish(40)
    for rendition in ["low", "high"] {
      server.fail("\(rendition)/1.ts", [], always: .tooSlow(seconds: 30))
    }
    let (items, queue) = try run { _ in FixedRendition(1) }
    #expect(items.count <= 1)
    #expect(queue.failure?.contains("less than 100 bytes/s for 30 s") == true)
  }

  @Test func segmentThatIsAlwaysTruncatedBecomesAGap() throws {
    publish(8)
    for rendition in ["low", "high"] {
      server.fail("\(rendition)/3.ts", [], always: .tooShort(expected: 1000, got: 10))
    }
    let (items, queue) = try run { RenditionChoice(ladder: $0) }
    #expect(items.map { $0.rendition == nil } == (0..<8).map { $0 == 3 })
    #expect(queue.failure == nil)
  }

  @Test func eightConsecutiveGapsEndTheSupply() throws {
    publish(40)
    for rendition in ["low", "high"] {
      for number in 5..<40 {
        server.fail("\(rendition)/\(number).ts", [], always: .status(404, retryAfter: nil))
      }
    }
    let (items, queue) = try run { _ in FixedRendition(1) }
    // Gaps without a following segment are not queued, so playback does not wait through them.
    #expect(items.count == 5)
    #expect(queue.failure?.contains("8 consecutive segments") == true)
  }

  @Test func unsupportedEncryptionIsReported() throws {
    publish(3)
    for rendition in ["low", "high"] {
      server.set(
        "\(rendition)/p.m3u8",
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\"\n"
          + "#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n")
    }
    let (items, queue) = try run { _ in FixedRendition(1) }
    #expect(items.isEmpty)
    #expect(queue.failure?.contains("SAMPLE-AES") == true)
  }

  @Test(arguments: [15, 17]) func keysMustHave16Bytes(_ count: Int) throws {
    publish(3)
    for rendition in ["low", "high"] {
      server.set("\(rendition)/k", [UInt8](repeating: 1, count: count))
      server.set(
        "\(rendition)/p.m3u8",
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n"
          + "#EXTINF:4,\n0.ts\n#EXT-X-ENDLIST\n")
    }
    #expect(try run { _ in FixedRendition(1) }.queue.failure?.contains("16 bytes") == true)
  }

  @Test func livePresentationHasNoGapsAndAlignedRenditions() throws {
    publish(200)
    server.state.withLock { $0.liveStart = 0 }
    server.state.withLock { ($0.rate, $0.slow) = (900e3, (60..<100, 90e3)) }
    let (items, queue) = try run(until: 200) { RenditionChoice(ladder: $0) }
    #expect(queue.failure == nil)
    #expect(items.allSatisfy { $0.rendition != nil }, "gaps")
    for (item, next) in zip(items, items.dropFirst()) { #expect(abs(item.end - next.start) < 1e-6) }
    for item in items {
      // All renditions of a queued segment have the same sequence number.
      #expect(Set(item.supplied.values.map(\.sequence)) == [Int(item.start / 4)])
    }
    let renditions = Set(items.compactMap(\.rendition))
    #expect(renditions == [0, 1])
  }

  @Test func segmentsRemovedByALiveServerAreSkipped() throws {
    publish(200)
    server.state.withLock { ($0.liveStart, $0.rate, $0.slow) = (0, 900e3, (60..<130, 900)) }
    let (items, queue) = try run(until: 260) { RenditionChoice(ladder: $0) }
    #expect(queue.failure == nil && items.allSatisfy { $0.rendition != nil })
    for (item, next) in zip(items, items.dropFirst()) { #expect(abs(item.end - next.start) < 1e-6) }
    let numbers = items.compactMap { $0.supplied.values.first?.sequence }
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
    #expect(zip(numbers, numbers.dropFirst()).contains { $1 > $0 + 5 })
    #expect(queue.takeNotes().contains { $0.contains("skipped") })
  }

  @Test func unchangedLivePlaylistEndsTheSupply() throws {
    publish(4)
    for rendition in ["low", "high"] {
      server.set(
        "\(rendition)/p.m3u8",
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXTINF:4,\n1.ts\n")
    }
    let (items, queue) = try run(until: 300) { RenditionChoice(ladder: $0) }
    #expect(items.count == 2)
    #expect(queue.failure?.contains("has not changed in the 60 s since the last sound") == true)
    #expect((60..<80).contains(server.now))
    #expect(queue.takeNotes().count { $0.contains("no longer changes") } == 1)
  }

  /// Gaps at the end of the queue are not sound that remains to be played.
  @Test func unchangedLivePlaylistThatEndsWithMissingSegmentsEndsTheSupply() throws {
    publish(2)
    for rendition in ["low", "high"] {
      server.set(
        "\(rendition)/p.m3u8",
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n" + (0..<4).map { "#EXTINF:4,\n\($0).ts\n" }.joined())
    }
    // The reader waits for sound after the second segment.
    let (items, queue) = try run(
      until: 300, rule: { RenditionChoice(ladder: $0) },
      meanwhile: { queue, _ in queue.advance(read: 8, heard: 7.7) })
    #expect(items.map { $0.rendition == nil }.suffix(2) == [true, true])
    #expect(queue.failure?.contains("has not changed") == true && server.now < 90)
  }

  /// The playlist does not change for 40 s, which is longer than any wait for a segment.
  @Test func livePlaylistThatPausesIsFollowedAgain() throws {
    publish(200)
    server.state.withLock { ($0.liveStart, $0.stop) = (0, 20..<60) }
    let (items, queue) = try run(until: 120) { RenditionChoice(ladder: $0) }
    #expect(queue.failure == nil && items.allSatisfy { $0.rendition != nil })
    #expect((items.last?.end ?? 0) > 80)
  }
}
