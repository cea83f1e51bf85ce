// SPDX-License-Identifier: Apache-2.0

/// The result of reading the reports that wait in a device's queue, at most 64 at once.
struct ReportBurst {
  enum Report {
    case gone
    case nothing
    case nonsense
    case readings([TrackerReading])
  }

  let news: TrackerNews

  /// The smallest number of reports at which the queue counts as full. hidraw keeps the oldest 63
  /// reports, so the reports in a full queue are outdated.
  static let fullQueue = 60
  static let mostAtOnce = 64
  /// Time limit after the first report, in nanoseconds.
  static let longest: Int64 = 20_000_000

  /// Reads the queue. `clock` returns CLOCK_MONOTONIC nanoseconds, and `next` waits only for the
  /// first report.
  init(clock: () -> Int64, next: (_ isFirst: Bool) -> Report) {
    var readings: [TrackerReading] = []
    var (rejected, count) = (0, 0)
    var end = Int64.max
    reading: while count < Self.mostAtOnce, count == 0 || clock() < end {
      switch next(count == 0) {
      case .gone:
        news = .gone
        return
      case .nothing: break reading
      case .nonsense: rejected += 1
      case .readings(let found): readings += found
      }
      if count == 0 { end = clock() + Self.longest }
      count += 1
    }
    news = count == 0 ? .nothing : .readings(Self.useful(readings, count), rejected: rejected)
  }

  /// Returns the readings to use. Of the orientations in several reports, only the newest is kept,
  /// or none if the queue was full.
  private static func useful(_ readings: [TrackerReading], _ count: Int) -> [TrackerReading] {
    guard count > 1 else { return readings }
    let last = readings.lastIndex { if case .head = $0 { true } else { false } }
    return readings.indices.filter { index in
      guard case .head = readings[index] else { return true }
      return index == last && count < fullQueue
    }.map { readings[$0] }
  }
}
