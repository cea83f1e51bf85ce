// SPDX-License-Identifier: Apache-2.0

/// The progress of a segment's download. Times are in s on the clock of `SegmentTiming.end`.
public struct DownloadProgress: Sendable {
  public let requestTime: Double
  /// Size of the body, in bytes: as the server states it, or estimated.
  public var totalBytes: Double
  private var marks: [(time: Double, bytes: Double)] = []

  public init(requestTime: Double, totalBytes: Double) {
    self.requestTime = requestTime
    self.totalBytes = totalBytes
  }

  public var bytes: Double { marks.last?.bytes ?? 0 }
  public var remainingBytes: Double { max(0, totalBytes - bytes) }

  /// Records that `total` bytes of the body have arrived by `time`. Ignores the call if `total` or
  /// `time` is lower than in an earlier call, or if `time` precedes the request.
  public mutating func received(_ total: Double, at time: Double) {
    guard time >= marks.last?.time ?? requestTime, total >= bytes else { return }
    marks.append((time, total))
    // Keep the newest mark that is at least 1 s old: `recentRate` measures from there.
    while marks.count > 2, marks[1].time <= time - 1 { marks.removeFirst() }
  }

  /// Returns the download rate over about the last second, in bit/s.
  ///
  /// Returns nil until more than 0.3 s have passed since the request; then 0 until `received` is
  /// called; and nil again until more than 0.3 s have passed since the first call of `received`.
  public func recentRate(at now: Double) -> Double? { rate(over: 1, at: now) }

  /// Returns the download rate over about the last 0.4 s, in bit/s; nil as for `recentRate`.
  public func latestRate(at now: Double) -> Double? { rate(over: 0.4, at: now) }

  private func rate(over seconds: Double, at now: Double) -> Double? {
    guard let first = marks.first else {
      return now - requestTime > 0.3 ? 0 : nil
    }
    let start = marks.last { $0.time <= now - seconds } ?? first
    let span = now - start.time
    return span > 0.3 ? (bytes - start.bytes) * 8 / span : nil
  }
}
