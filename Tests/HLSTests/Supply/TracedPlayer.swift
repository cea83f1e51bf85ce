// SPDX-License-Identifier: Apache-2.0

import Synchronization

@testable import HLS
@testable import Laboratory

/// A server behind a line with a given rate over time, and a listener. Both run on simulated time,
/// so that `SegmentSupply`, the code that fetches for the player, can be compared with `Simulator`.
final class TracedPlayer: ResourceFetcher {
  private struct State {
    var now = 0.0
    var listener = SimulatedListener()
    var requests: [(time: Double, path: String)] = []
    var failure: String?
  }

  private let trace: BandwidthTrace
  private let ladder: Ladder
  private let conditions: SimulationConditions
  /// The time in which nothing arrives. A request that was made or not complete by then is never
  /// answered.
  private let outage: Range<Double>?
  private let bodies: [[UInt8]]
  private let state = Mutex(State())
  private let queue = Mutex<SegmentQueue?>(nil)

  init(
    _ trace: BandwidthTrace, _ ladder: Ladder, _ conditions: SimulationConditions,
    outage: Range<Double>? = nil
  ) {
    self.outage = outage
    (self.trace, self.ladder, self.conditions) = (trace, ladder, conditions)
    bodies = ladder.map { rendition in
      let packets = Int(rendition.bitRate * conditions.segmentSeconds / 8 / 188)
      return [UInt8]((0..<packets * 188).map { $0 % 188 == 0 ? 0x47 : UInt8($0 % 251) })
    }
  }

  var now: Double { state.withLock { $0.now } }
  var requests: [(time: Double, path: String)] { state.withLock { $0.requests } }

  /// The reason why fetching failed; nil if it did not fail.
  var failure: String? { state.withLock { $0.failure } }

  /// Plays until the end of the conditions, and returns what was heard.
  func play(_ rule: @escaping @Sendable (Ladder) -> any AdaptationRule) throws -> SimulationResult {
    let loader = PlaylistLoader(self, folder: nil)
    let presentation = try OpenPresentation(
      loader.open(.network("http://h/m.m3u8")), loader: loader, fetcher: self,
      wishes: RenditionWishes(), describe: { _ in nil }, goesOn: { true })
    var supplied = SegmentSupply.Conditions()
    supplied.bufferSeconds = conditions.bufferSeconds
    let supply = SegmentSupply(
      presentation, conditions: supplied, clock: { self.now }, pause: { self.wait($0) },
      rule: { rule(presentation.ladder) })
    queue.withLock { $0 = supply.queue }
    defer { state.withLock { $0.failure = supply.queue.failure } }
    supply.run { supply.queue.failure != nil || self.now >= self.conditions.seconds }
    var listener = state.withLock { $0.listener }
    listener.advance(to: conditions.seconds, supply.queue, conditions)
    var result = SimulationResult()
    (result.heard, result.startSeconds) = (listener.heard, listener.started)
    return result
  }

  private func wait(_ seconds: Double) {
    let queue = queue.withLock { $0 }
    state.withLock { state in
      state.now += max(seconds, 0.001)
      guard let queue else { return }
      state.listener.advance(to: state.now, queue, conditions)
    }
  }

  func fetch(
    _ request: FetchRequest, goesOn: (FetchTiming) -> Bool
  ) throws(FetchError) -> FetchedResource {
    let path = String(request.address.description.dropFirst("http://h/".count))
    let start = now
    state.withLock { $0.requests.append((start, path)) }
    wait(conditions.roundTripSeconds)
    let bytes = body(path)
    let total = Double(bytes.count * 8)
    var sent = 0.0
    var timing = FetchTiming(seconds: now - start)
    if outage?.contains(now) != true {
      (timing.firstByte, timing.expected) = (conditions.roundTripSeconds, bytes.count)
    }
    while sent < total - 0.001 {
      guard goesOn(timing) else { throw .abandoned(timing) }
      if let outage, now >= outage.lowerBound - 0.1, start < outage.upperBound {
        wait(0.1)
        timing.seconds = now - start
        continue
      }
      let part = trace.send(total - sent, from: now, until: now + 0.1)
      sent += part.bits
      wait(part.time - now)
      (timing.seconds, timing.bytes) = (now - start, min(bytes.count, Int(sent / 8)))
    }
    timing.bytes = bytes.count
    return FetchedResource(bytes: bytes, timing: timing, address: request.address)
  }

  private func body(_ path: String) -> [UInt8] {
    if path == "m.m3u8" { return Array(multivariant.utf8) }
    let parts = path.split(separator: "/")
    guard let rendition = parts.first.flatMap({ Int($0) }), parts.count == 2 else { return [] }
    return parts[1] == "p.m3u8" ? Array(playlist.utf8) : bodies[rendition]
  }

  private var multivariant: String {
    var text = "#EXTM3U\n"
    for (index, rendition) in ladder.enumerated() {
      let (channels, codec) = rendition.isMultichannel ? (6, "ec-3") : (2, "mp4a.40.2")
      text +=
        "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"\(index)\",NAME=\"a\",CHANNELS=\"\(channels)\","
        + "URI=\"\(index)/p.m3u8\"\n#EXT-X-STREAM-INF:BANDWIDTH=\(Int(rendition.bitRate)),"
        + "CODECS=\"\(codec)\",AUDIO=\"\(index)\"\n\(index)/p.m3u8\n"
    }
    return text
  }

  private var playlist: String {
    let length = conditions.segmentSeconds
    let all = Int(conditions.seconds / length) + 4
    let end = conditions.isLive ? min(all, 3 + Int(now / length)) : all
    let first = conditions.isLive ? max(0, end - 5) : 0
    var text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:\(first)\n"
    for number in first..<end { text += "#EXTINF:\(length),\n\(number).ts\n" }
    return text + (conditions.isLive ? "" : "#EXT-X-ENDLIST\n")
  }
}

/// A listener who hears the queue as `HLSSource` and the player read it: `decodedSeconds` ahead,
/// and not the last `SegmentSupply.Conditions.unreadable` seconds.
private struct SimulatedListener {
  private(set) var heard: [HeardStretch] = []
  private(set) var started: Double?
  private var time = 0.0
  private var position = 0.0
  /// The sound that has been read, as ends in s of presentation time with their renditions.
  private var read: [(end: Double, rendition: Int)] = []
  private var readEnd = 0.0
  /// The number of the segment that is being read.
  private var number = 0

  mutating func advance(to end: Double, _ queue: SegmentQueue, _ conditions: SimulationConditions) {
    let end = min(end, conditions.seconds)
    if started == nil {
      time = end
      guard queue.mayStart else { return }
      started = end
    }
    while time < end - 1e-9 {
      readAhead(to: position + conditions.decodedSeconds, queue)
      guard let next = read.first(where: { $0.end > position + 1e-9 }) else {
        hear(nil, end - time)
        break
      }
      let length = min(end - time, next.end - position, 0.1)
      position += length
      hear(next.rendition, length)
    }
    readAhead(to: position + conditions.decodedSeconds, queue)
    queue.advance(read: readEnd, heard: position)
    queue.release(before: number)
    read.removeAll { $0.end < position }
  }

  private mutating func readAhead(to limit: Double, _ queue: SegmentQueue) {
    while readEnd < limit - 1e-9, let segment = queue.segment(number) {
      let isLast = queue.segment(number + 1) == nil && !queue.hasEnded
      let end = min(limit, segment.end - (isLast ? SegmentSupply.Conditions().unreadable : 0))
      guard end > readEnd else { return }
      readEnd = end
      if read.last?.rendition == segment.rendition, let last = read.indices.last {
        read[last].end = end
      } else {
        read.append((end, segment.rendition ?? 0))
      }
      if end >= segment.end - 1e-9 { number += 1 }
    }
  }

  private mutating func hear(_ rendition: Int?, _ seconds: Double) {
    if let last = heard.last, last.rendition == rendition {
      heard[heard.count - 1].seconds += seconds
    } else {
      heard.append(HeardStretch(start: time, seconds: seconds, rendition: rendition))
    }
    time += seconds
  }
}
