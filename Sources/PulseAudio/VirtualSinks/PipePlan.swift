// SPDX-License-Identifier: Apache-2.0

/// The capacity of a virtual sink's pipe, and how it is used.
///
/// PulseAudio keeps the pipe full and reports its content as latency. The part `fresh` is unread
/// and delays the sound. The part `kept` has been read but is not yet audible. Lengths are in
/// frames unless another unit is given.
struct PipePlan: Equatable {
  static let bytesPerPage = 4096
  /// The shortest unread part that avoids missing frames on a machine under load [ms].
  static let leastFreshMilliseconds = 25.0
  /// The longest unread part [ms]. This limit keeps the delay of the sound short.
  static let mostFreshMilliseconds = 39.0
  private static let pageCounts = [4, 8, 16, 32, 64, 128, 256]

  let pageCount: Int
  let kept: Int
  /// The average length of the unread part when the pipe is full.
  let fresh: Int

  /// The smallest unread part that is safe before a read.
  let least: Int

  var bytes: Int { pageCount * Self.bytesPerPage }

  /// Chooses the plan whose kept part is closest to `delay`. Uses a plan whose unread part is
  /// shorter than `leastFreshMilliseconds` only if there is no other.
  ///
  /// - Parameters:
  ///   - delay: the time from reading a frame to hearing it [frames].
  ///   - pageCount: the fixed number of pages; nil to choose the number.
  init(channelCount: Int, sampleRate: Int, delay: Int, pageCount: Int? = nil) {
    let page = Self.bytesPerPage / (4 * channelCount)
    let least = Int(Self.leastFreshMilliseconds * Double(sampleRate) / 1000)
    let most = Int(Self.mostFreshMilliseconds * Double(sampleRate) / 1000)
    let plans = (pageCount.map { [$0] } ?? Self.pageCounts).map { count in
      // On average, half of the first page has been consumed but still occupies space.
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
