// SPDX-License-Identifier: Apache-2.0

import Glibc

/// How long the body of a segment took to come.
public struct SegmentTiming: Sendable, Equatable {
  /// s, on any clock that never goes back: when the last byte came.
  public var end: Double
  public var bytes: Int
  /// s from the request to the last byte.
  public var seconds: Double
  /// s from the request to the first byte.
  public var firstByteSeconds: Double
  /// It was given up before its end.
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

/// What recent segments tell of the line.
public struct ThroughputHistory: Sendable, Equatable {
  struct Sample: Equatable {
    var end: Double
    var bitsPerSecond: Double
  }

  /// The newest last, some 20 at most.
  private(set) var samples: [Sample] = []
  /// s from a request to its first byte, smoothed.
  public private(set) var firstByteSeconds = 0.0

  public init() {}

  /// Forgets nothing for what cannot be: times that are not positive numbers, a clock that went
  /// back. A body below 2 kB says nothing about the rate, unless it stood still for a second.
  ///
  /// - Returns: bit/s of the body without the wait for it; nil where nothing was learnt.
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

  /// bit/s; a sample's weight halves with every `halfLife` [s] that it is older than the newest.
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

  /// The smallest of the newest samples, bit/s; nil where there are fewer.
  func minimum(ofLast count: Int) -> Double? {
    samples.count < count ? nil : samples.suffix(count).map(\.bitsPerSecond).min()
  }
}
