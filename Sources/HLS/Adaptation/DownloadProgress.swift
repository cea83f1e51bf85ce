// SPDX-License-Identifier: Apache-2.0

/// How far a segment's download has come. Times are on the clock of `SegmentTiming`.
public struct DownloadProgress: Sendable {
  public let requestTime: Double
  /// What the whole body will have, by its Content-Length or by the rendition's bit rate.
  public var totalBytes: Double
  private var marks: [(time: Double, bytes: Double)] = []

  public init(requestTime: Double, totalBytes: Double) {
    self.requestTime = requestTime
    self.totalBytes = totalBytes
  }

  public var bytes: Double { marks.last?.bytes ?? 0 }
  public var remainingBytes: Double { max(0, totalBytes - bytes) }

  /// To be called as bytes come; `total` counts from the beginning of the body.
  public mutating func received(_ total: Double, at time: Double) {
    guard time >= marks.last?.time ?? requestTime, total >= bytes else { return }
    marks.append((time, total))
    // The newest of those that are a second old is the start of the window.
    while marks.count > 2, marks[1].time <= time - 1 { marks.removeFirst() }
  }

  /// bit/s over the last second; nil before 0.3 s of it are seen.
  ///
  /// The time before the first byte counts only while there is none.
  public func recentRate(at now: Double) -> Double? { rate(over: 1, at: now) }

  /// bit/s over the last 0.4 s, of which at least 0.3 s are seen.
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
