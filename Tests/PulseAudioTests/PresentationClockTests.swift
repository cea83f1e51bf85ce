// SPDX-License-Identifier: Apache-2.0

import SoundServer
import TestSupport
import Testing

@testable import PulseAudio

@Suite struct PresentationClockTests {
  private static let millisecond: Int64 = 1_000_000

  /// Returns the presentation times of blocks of 480 frames at 48 kHz, written every 10 ms with a
  /// latency of 50 ms that jitters.
  private func times(
    jitter: (Int) -> Int64, blocks: Int = 500, into clock: inout PresentationClock
  ) -> [Int64] {
    (0..<blocks).map { block in
      clock.presentationTime(
        position: Int64(block) * 480, now: Int64(block) * 10 * Self.millisecond,
        latency: 50 * Self.millisecond + jitter(block))
    }
  }

  @Test func steadyReportsGiveExactTimes() {
    var clock = PresentationClock(sampleRate: 48_000)
    let times = times(jitter: { _ in 0 }, into: &clock)
    for (block, time) in times.enumerated() {
      #expect(abs(time - (Int64(block) * 10 + 50) * Self.millisecond) <= 1)
    }
  }

  @Test func jitterIsSmoothedAndTimeIsMonotonic() {
    var clock = PresentationClock(sampleRate: 48_000)
    var random = SeededGenerator.forTest()
    let jitter = (0..<500).map { _ in Int64.random(in: -5...5, using: &random) * Self.millisecond }
    let times = times(jitter: { jitter[$0] }, into: &clock)
    #expect(zip(times, times.dropFirst()).allSatisfy { $1 >= $0 })
    // Skip the first reports, during which the offset is still being estimated.
    for (time, next) in zip(times, times.dropFirst()).dropFirst(16) {
      #expect(abs(next - time - 10 * Self.millisecond) < Self.millisecond)
    }
  }

  @Test func outliersAreIgnoredUntilThreeAgree() {
    var clock = PresentationClock(sampleRate: 48_000)
    let single = times(jitter: { $0 == 50 ? 400 * Self.millisecond : 0 }, into: &clock)
    #expect(abs(single[51] - 560 * Self.millisecond) < Self.millisecond)
    clock.reset()
    let lasting = times(jitter: { $0 >= 50 ? 100 * Self.millisecond : 0 }, into: &clock)
    #expect(abs(lasting[51] - 560 * Self.millisecond) < Self.millisecond)
    #expect(abs(lasting[53] - 680 * Self.millisecond) < Self.millisecond)
  }

  @Test func timeStepsBackOnlyAfterAReset() {
    var clock = PresentationClock(sampleRate: 48_000)
    let late = clock.presentationTime(position: 0, now: 0, latency: 200 * Self.millisecond)
    clock.relock()
    #expect(clock.presentationTime(position: 480, now: 1, latency: 0) == late)
    clock.reset()
    #expect(clock.presentationTime(position: 480, now: 1, latency: 0) < late)
  }

  @Test func positionHeardInvertsPresentationTime() {
    var clock = PresentationClock(sampleRate: 48_000)
    #expect(clock.positionHeard(at: 0, written: 0) == nil)
    _ = times(jitter: { _ in 0 }, into: &clock)
    #expect(clock.positionHeard(at: 1050 * Self.millisecond, written: 240_000) == 48_000)
    #expect(clock.positionHeard(at: 9_999 * Self.millisecond, written: 240_000) == 240_000)
  }
}
