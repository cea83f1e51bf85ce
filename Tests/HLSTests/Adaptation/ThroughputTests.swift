// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import HLS

@Suite struct ThroughputTests {
  private func timing(
    end: Double, kilobits: Double, seconds: Double = 1, bytes: Int = 100_000
  ) -> SegmentTiming {
    // The wait for the first byte is not part of the rate.
    let body = Double(bytes) * 8 / (kilobits * 1000)
    return SegmentTiming(end: end, bytes: bytes, seconds: body + 0.2, firstByteSeconds: 0.2)
  }

  @Test func meanOfConstantThroughputIsThatThroughput() {
    var history = ThroughputHistory()
    for second in 1...30 { history.record(timing(end: Double(second), kilobits: 400)) }
    for halfLife in [0.5, 3, 12, 1000] {
      let mean = history.mean(halfLife: halfLife) ?? .nan
      #expect(abs(mean - 400_000) < 1e-6 * 400_000)
    }
    #expect(abs(history.firstByteSeconds - 0.2) < 1e-12)
    #expect(history.samples.count == 20)
  }

  /// After a step, old samples have the weight 2^(-age / halfLife), so the expected average is a
  /// geometric series.
  @Test func meanFollowsAStepWithTheHalfLife() {
    for (count, halfLife) in [(1, 3.0), (3, 3), (6, 12)] {
      var history = ThroughputHistory()
      for second in 1...10 { history.record(timing(end: Double(second), kilobits: 100)) }
      for second in 1...count { history.record(timing(end: 10 + Double(second), kilobits: 900)) }
      let ratio = exp2(-1 / halfLife)
      let new = (1 - pow(ratio, Double(count))) / (1 - ratio)
      let all = (1 - pow(ratio, Double(count + 10))) / (1 - ratio)
      let expected = 100_000 + 800_000 * new / all
      #expect(abs((history.mean(halfLife: halfLife) ?? .nan) - expected) < 1e-6 * expected)
    }
  }

  @Test func minimumCoversTheGivenNumberOfSamples() {
    var history = ThroughputHistory()
    #expect(history.minimum(ofLast: 1) == nil && history.mean(halfLife: 3) == nil)
    for (second, rate) in [500.0, 200, 300].enumerated() {
      history.record(timing(end: Double(second), kilobits: rate))
    }
    #expect(abs((history.minimum(ofLast: 1) ?? 0) - 300_000) < 1)
    #expect(abs((history.minimum(ofLast: 3) ?? 0) - 200_000) < 1)
    #expect(history.minimum(ofLast: 4) == nil)
  }

  @Test func invalidTimingsAreIgnored() {
    var history = ThroughputHistory()
    history.record(timing(end: 5, kilobits: 300))
    let before = history
    for (end, bytes, seconds, wait) in [
      (.nan, 9000, 1, 0), (6, 9000, 0, 0), (6, 9000, -1, 0), (6, 9000, .nan, 0),
      (6, 9000, .infinity, 0), (6, 9000, 1, .nan), (6, 9000, 1, 2), (6, 9000, 1, -1),
      (4, 9000, 1, 0), (6, -1, 1, 0), (6, 1999, 1, 0),
    ] as [(Double, Int, Double, Double)] {
      let rate = history.record(
        SegmentTiming(end: end, bytes: bytes, seconds: seconds, firstByteSeconds: wait))
      #expect(rate == nil)
    }
    #expect(history == before)
    // A download in no time gives a high but finite rate.
    let instant = SegmentTiming(end: 6, bytes: 1 << 40, seconds: 1e-9, firstByteSeconds: 0)
    #expect(history.record(instant) == 1e10)
  }

  @Test func stalledDownloadCountsAsSlow() {
    var history = ThroughputHistory()
    let stuck = SegmentTiming(
      end: 3, bytes: 0, seconds: 3, firstByteSeconds: 0.1, isPartial: true)
    #expect((history.record(stuck) ?? 1e9) < 1)
  }

  @Test func recentRateCoversTheLastSecond() {
    var progress = DownloadProgress(requestTime: 10, totalBytes: 100_000)
    #expect(progress.recentRate(at: 10.2) == nil)
    #expect(progress.recentRate(at: 11) == 0)
    progress.received(0, at: 11)
    #expect(progress.recentRate(at: 11.2) == nil)
    // 10 kB/s for 2 s, then 2 kB/s for 2 s.
    for tenth in 1...20 { progress.received(Double(tenth) * 1000, at: 11 + Double(tenth) / 10) }
    #expect(abs((progress.recentRate(at: 13) ?? .nan) - 80_000) < 1)
    for tenth in 1...20 {
      progress.received(20_000 + Double(tenth) * 200, at: 13 + Double(tenth) / 10)
    }
    #expect(abs((progress.recentRate(at: 15) ?? .nan) - 16_000) < 1)
    #expect(progress.remainingBytes == 76_000)
    // Nothing more arrives, so the window becomes empty.
    #expect((progress.recentRate(at: 16.1) ?? .nan) < 1)
  }

  @Test func progressNeverDecreases() {
    var progress = DownloadProgress(requestTime: 0, totalBytes: 100)
    progress.received(50, at: 1)
    progress.received(40, at: 2)
    progress.received(60, at: 0.5)
    progress.received(.nan, at: 3)
    #expect(progress.bytes == 50)
    progress.received(500, at: 4)
    #expect(progress.remainingBytes == 0)
  }
}
