// SPDX-License-Identifier: Apache-2.0

/// Where a stream is read.
struct ReadingPlace {
  /// The number of the segment that is read.
  var segment = 0
  /// The frame that comes next.
  var position = 0
  /// What comes next does not have to lie over what came before.
  var isCut = true
  /// Why what comes next was not there.
  var gapReason: String?
  /// A segment in which a join was tried in vain.
  var unjoinable: Int?
  var clock = SegmentClock()
}

/// Where a container's times lie in the presentation's time. The renditions of a presentation share
/// their clock from one discontinuity to the next (RFC 8216, section 6.2.4).
struct SegmentClock {
  /// By discontinuity: what is to be added to the container's time, s.
  private var offsets: [Int: Double] = [:]
  /// A clock that is further away than this is another one.
  private static let mostDistance = 1.0

  /// - Parameters:
  ///   - time: by the container, s; nil where it has none.
  ///   - cycle: s after which its times begin again.
  ///   - discontinuity: which stretch it belongs to.
  ///   - expected: where it lies as far as the playlist and what came before tell, s.
  /// - Returns: s of the presentation.
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
