// SPDX-License-Identifier: Apache-2.0

/// The position at which a stream is read.
struct ReadingPlace {
  /// The number of the current segment.
  var segment = 0
  /// The next frame to read.
  var position = 0
  /// Whether the next run starts afresh, after a start or a seek, and need not continue earlier
  /// sound.
  var isCut = true
  /// Why the segments before the next run were missing.
  var gapReason: String?
  /// The segment in which a change of rendition was already attempted.
  var unjoinable: Int?
  var clock = SegmentClock()
}

/// Maps container timestamps to presentation time. The renditions of a presentation share a clock
/// between discontinuities (RFC 8216, section 6.2.4).
struct SegmentClock {
  /// The offset from container time to presentation time for each discontinuity number [s].
  private var offsets: [Int: Double] = [:]
  /// A position that is further than this from the expected one belongs to another clock [s].
  private static let mostDistance = 1.0

  /// Returns the presentation time of a container timestamp [s].
  ///
  /// - Parameters:
  ///   - time: the container timestamp [s]; nil if it has none.
  ///   - cycle: the time after which container timestamps wrap around [s]; nil if they do not.
  ///   - discontinuity: the discontinuity number that the timestamp belongs to.
  ///   - expected: the time according to the playlist and the sound read so far [s].
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
