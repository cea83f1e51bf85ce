// SPDX-License-Identifier: Apache-2.0

import HLS

struct SimulatedPlayer {
  struct Segment {
    var rendition: Int
    /// The rendition that plays up to the position `join` (in s); nil if the segment has only one
    /// rendition.
    var before: (rendition: Int, join: Double)?
  }

  /// The shortest remainder of a segment that another rendition can replace, in s.
  static let leastJoinSeconds = 0.5

  let segmentSeconds: Double
  let endTime: Double
  /// See `SimulationConditions.unreadableSeconds`.
  let unreadableSeconds: Double
  private(set) var segments: [Segment] = []
  /// The playback position in the presentation, in s.
  private(set) var position = 0.0
  private(set) var started: Double?
  private(set) var heard: [HeardStretch] = []
  private var time = 0.0

  init(segmentSeconds: Double, endTime: Double, unreadableSeconds: Double) {
    self.unreadableSeconds = unreadableSeconds
    self.segmentSeconds = segmentSeconds
    self.endTime = endTime
  }

  /// The buffered sound, in s. Once playback has started, the unreadable end of the last segment
  /// does not count.
  var buffer: Double {
    let unreadable = started == nil ? 0 : unreadableSeconds
    return max(0, Double(segments.count) * segmentSeconds - unreadable - position)
  }

  mutating func append(_ rendition: Int) { segments.append(Segment(rendition: rendition)) }

  mutating func start(at time: Double) {
    started = time
    self.time = time
  }

  func queue(decodedSeconds: Double) -> [ReplaceableSegment] {
    let decoded = started == nil ? 0 : decodedSeconds
    let first = min(Int(position / segmentSeconds + 1e-7), segments.count)
    return segments.indices.dropFirst(first).map { number in
      ReplaceableSegment(
        number: number, rendition: segments[number].rendition,
        secondsLeft: Double(number) * segmentSeconds - position - decoded)
    }
  }

  /// Returns the position in s from which another rendition can replace a segment. Returns nil if
  /// less than `leastJoinSeconds` of the segment would be left.
  func join(_ number: Int, decodedSeconds: Double) -> Double? {
    let start = Double(number) * segmentSeconds
    guard started != nil else { return start }
    let join = max(start, position + decodedSeconds)
    return join <= start + segmentSeconds - Self.leastJoinSeconds ? join : nil
  }

  mutating func replace(_ number: Int, by rendition: Int, from join: Double) {
    let isWhole = join <= Double(number) * segmentSeconds
    let before = isWhole ? nil : (segments[number].rendition, join)
    segments[number] = Segment(rendition: rendition, before: before)
  }

  mutating func advance(to limit: Double) {
    let limit = min(limit, endTime)
    guard started != nil else { return }
    while time < limit - 1e-9 {
      let number = Int(position / segmentSeconds + 1e-7)
      guard buffer > 1e-9, segments.indices.contains(number) else {
        hear(nil, limit - time)
        return
      }
      let segment = segments[number]
      var end = Double(number + 1) * segmentSeconds
      var rendition = segment.rendition
      if let before = segment.before, position < before.join - 1e-9 {
        (rendition, end) = (before.rendition, before.join)
      }
      let length = min(limit - time, end - position, buffer)
      position = length == end - position ? end : position + length
      hear(rendition, length)
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
