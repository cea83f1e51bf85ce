// SPDX-License-Identifier: Apache-2.0

/// The reports that wait in a device's queue, read in one go.
struct ReportBurst {
  enum Report {
    case gone
    case nothing
    case nonsense
    case readings([TrackerReading])
  }

  let news: TrackerNews

  /// hidraw keeps the oldest 63 reports: a queue that was full ends long before now.
  static let fullQueue = 60
  static let mostAtOnce = 64
  /// A queue that fills as fast as it is read is left for the next time, ns.
  static let longest: Int64 = 20_000_000

  /// - Parameters:
  ///   - clock: CLOCK_MONOTONIC, ns.
  ///   - next: the next report; waits for the first one only.
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

  /// Of fused orientations only the newest is of use after a stall of this thread, and not even
  /// that one when the queue was full. Raw readings are all needed, and carry their own times.
  private static func useful(_ readings: [TrackerReading], _ count: Int) -> [TrackerReading] {
    guard count > 1 else { return readings }
    let last = readings.lastIndex { if case .head = $0 { true } else { false } }
    return readings.indices.filter { index in
      guard case .head = readings[index] else { return true }
      return index == last && count < fullQueue
    }.map { readings[$0] }
  }
}
