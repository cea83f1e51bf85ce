// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The timing of a segment's download.
public struct SegmentTiming: Sendable, Equatable {
  /// Time at which the last byte arrived or the download was stopped, in s on any monotonic clock.
  public var end: Double
  public var bytes: Int
  /// Time from the request to `end`, in s.
  public var seconds: Double
  /// Time from the request to the first byte, in s; equal to `seconds` if no byte arrived.
  public var firstByteSeconds: Double
  /// Whether the download was stopped before all bytes had arrived.
  public var isPartial: Bool

  public init(
    end: Double, bytes: Int, seconds: Double, firstByteSeconds: Double, isPartial: Bool = false
  ) {
    self.end = end
    self.bytes = bytes
    self.seconds = seconds
    self.firstByteSeconds = firstByteSeconds
    self.isPartial = isPartial
  }
}

/// The throughput of recent downloads.
public struct ThroughputHistory: Sendable, Equatable {
  struct Sample: Equatable {
    var end: Double
    var bitsPerSecond: Double
  }

  /// The latest samples (at most 20), newest last.
  private(set) var samples: [Sample] = []
  /// Smoothed time from a request to the first byte of the response, in s; 0 before the first
  /// recorded download.
  public private(set) var firstByteSeconds = 0.0

  public init() {}

  /// Records a download. Ignores a timing that is impossible or that ends before the newest sample.
  /// Also ignores a body of fewer than 2000 bytes, unless its download was stopped after more than
  /// 1 s.
  ///
  /// - Returns: the rate of the body in bit/s, without the wait for the first byte; nil if the
  ///   download was ignored.
  @discardableResult
  mutating func record(_ timing: SegmentTiming) -> Double? {
    let waited = timing.firstByteSeconds
    guard timing.end.isFinite, timing.seconds.isFinite, timing.seconds > 0, timing.bytes >= 0,
      waited.isFinite, waited >= 0, waited <= timing.seconds,
      timing.end >= samples.last?.end ?? -.infinity
    else { return nil }
    guard timing.bytes >= 2000 || (timing.isPartial && timing.seconds > 1) else { return nil }
    let bits = max(Double(timing.bytes) * 8, 1)
    let rate = min(bits / max(timing.seconds - waited, 0.001), 1e10)
    firstByteSeconds += (waited - firstByteSeconds) * (samples.isEmpty ? 1 : 0.3)
    samples.append(Sample(end: timing.end, bitsPerSecond: rate))
    samples.removeFirst(max(0, samples.count - 20))
    return rate
  }

  /// Returns the weighted average of the samples, in bit/s; nil if there are none. The weight is
  /// 2^(-t / `halfLife`), where t is the time from the sample to the newest sample in s.
  func mean(halfLife: Double) -> Double? {
    guard let newest = samples.last?.end else { return nil }
    var sum = 0.0
    var weights = 0.0
    for sample in samples {
      let weight = exp2((sample.end - newest) / halfLife)
      sum += weight * sample.bitsPerSecond
      weights += weight
    }
    return sum / weights
  }

  /// Returns the minimum of the newest `count` samples, in bit/s; nil if there are fewer samples.
  func minimum(ofLast count: Int) -> Double? {
    samples.count < count ? nil : samples.suffix(count).map(\.bitsPerSecond).min()
  }

  /// Returns the range of the samples in the period of `seconds` up to the newest sample, in bit/s.
  ///
  /// Returns nil if the history does not cover the period, if the period contains fewer than
  /// `count` samples, or if its highest sample exceeds `spread` times its lowest.
  func steadyRange(over seconds: Double, count: Int, spread: Double) -> ClosedRange<Double>? {
    guard let newest = samples.last?.end, let oldest = samples.first?.end,
      newest - oldest >= seconds
    else { return nil }
    let rates = samples.filter { newest - $0.end <= seconds }.map(\.bitsPerSecond)
    guard rates.count >= count, let least = rates.min(), let most = rates.max(),
      most <= spread * least
    else { return nil }
    return least...most
  }
}
