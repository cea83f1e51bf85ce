// SPDX-License-Identifier: Apache-2.0

/// The position at which a stream is read, and the state that is kept between runs.
struct ReadingPlace {
  /// The number of the current segment in the queue.
  var segment = 0
  /// The frame of the presentation that is read next.
  var position = 0
  /// Whether the next run is the first run or the first after a seek.
  var isCut = true
  /// Why segments before the next run were skipped; nil if none were skipped.
  var gapReason: String?
  /// The number of the last segment in which a change of rendition was attempted or came too late;
  /// nil if there was none since the last seek.
  var unjoinable: Int?
  var clock = SegmentClock()
}

/// Maps container timestamps to presentation time. The renditions of a presentation share a clock
/// between discontinuities (RFC 8216, section 6.2.4).
struct SegmentClock {
  /// The offset from container time to presentation time for each discontinuity number, in seconds.
  private var offsets: [Int: Double] = [:]
  /// A timestamp that differs from the expected time by at least this duration, in seconds, belongs
  /// to another clock.
  private static let mostDistance = 1.0

  /// Returns the presentation time of a container timestamp, in seconds.
  ///
  /// - Parameters:
  ///   - time: the container timestamp in seconds; nil if the container has none.
  ///   - cycle: the time in seconds after which timestamps wrap around; nil if they do not.
  ///   - expected: the expected time in seconds. It is returned if there is no timestamp, or if the
  ///     timestamp is the first with its discontinuity number or belongs to another clock.
  mutating func position(
    of time: Double?, cycle: Double?, discontinuity: Int, expected: Double
  ) -> Double {
    guard let time else { return expected }
    if let offset = offsets[discontinuity] {
      var position = time + offset
      if let cycle { position += ((expected - position) / cycle).rounded() * cycle }
      if abs(position - expected) < Self.mostDistance { return position }
    }
    offsets[discontinuity] = expected - time
    return expected
  }
}
