// SPDX-License-Identifier: Apache-2.0

/// The capacity of a virtual sink's pipe, and the share of it that holds sound which was read but
/// not yet heard.
///
/// PulseAudio keeps the pipe full and reports its content as latency. The latency that the pipe
/// adds is that of its unread part alone (`fresh`); the rest (`kept`) makes the server count sound
/// that is on its way to the ears. The capacity is a power of two of pages, and the server writes
/// at most one page at a time, so each page has a complete number of frames. All lengths are in
/// frames.
struct PipePlan: Equatable {
  static let bytesPerPage = 4096
  /// The shortest unread part that a machine under load can keep filled [ms].
  static let leastFreshMilliseconds = 25.0
  /// The longest unread part: a longer one adds too much latency [ms].
  static let mostFreshMilliseconds = 39.0
  private static let pageCounts = [4, 8, 16, 32, 64, 128, 256]

  let pageCount: Int
  let kept: Int
  /// The unread part when the pipe is full, on average.
  let fresh: Int

  /// The smallest unread part that is safe before a read.
  let least: Int

  var bytes: Int { pageCount * Self.bytesPerPage }

  /// Chooses the plan whose kept part is closest to `delay`.
  ///
  /// - Parameters:
  ///   - channelCount: the channels of the sink, 32 bits each.
  ///   - sampleRate: the rate of the sink [Hz].
  ///   - delay: the time from reading a frame to hearing it [frames].
  ///   - pageCount: the capacity of a pipe that cannot change; nil to choose it.
  init(channelCount: Int, sampleRate: Int, delay: Int, pageCount: Int? = nil) {
    let page = Self.bytesPerPage / (4 * channelCount)
    let least = Int(Self.leastFreshMilliseconds * Double(sampleRate) / 1000)
    let most = Int(Self.mostFreshMilliseconds * Double(sampleRate) / 1000)
    let plans = (pageCount.map { [$0] } ?? Self.pageCounts).map { count in
      // On average, half of the first page has been consumed but occupies its place.
      let room = count * page - page / 2
      let fresh = min(room, max(least, min(most, room - delay)))
      return PipePlan(
        pageCount: count, kept: room - fresh, fresh: fresh, least: max(0, min(least, fresh) - page))
    }
    let usable = plans.filter { $0.fresh >= least }
    self = (usable.isEmpty ? plans : usable).min { abs($0.kept - delay) < abs($1.kept - delay) }!
  }

  private init(pageCount: Int, kept: Int, fresh: Int, least: Int) {
    (self.pageCount, self.kept, self.fresh, self.least) = (pageCount, kept, fresh, least)
  }
}
