// SPDX-License-Identifier: Apache-2.0

import SoundServer
import TestSupport
import Testing

@testable import PulseAudio

/// A sink whose read-ahead varies from write to write.
private struct ReadingSink {
  let readsAhead: ClosedRange<Int64>
  var random = SeededGenerator(1)
  var lost = 0

  mutating func write(_ margin: inout RewriteMargin) {
    let slack = margin.nanoseconds - Int64.random(in: readsAhead, using: &random)
    if slack < 0 { lost += 1 }
    margin.learn(slack: slack)
  }
}

@Suite struct RewriteMarginTests {
  private static let millisecond: Int64 = 1_000_000

  @Test(arguments: [
    (start: 2, ahead: 0...5), (start: 60, ahead: 0...5), (start: 7, ahead: 20...31),
    (start: 120, ahead: 80...110),
  ])
  func marginSettlesJustAboveTheReadAhead(start: Int64, ahead: ClosedRange<Int64>) {
    let scale = Self.millisecond
    var margin = RewriteMargin(readAhead: 0, extra: start * scale, limit: 150 * scale)
    var sink = ReadingSink(readsAhead: ahead.lowerBound * scale...ahead.upperBound * scale)
    for _ in 0..<2000 { sink.write(&margin) }
    sink.lost = 0
    for _ in 0..<2000 { sink.write(&margin) }
    let excess = margin.nanoseconds - ahead.upperBound * scale
    // The largest read-ahead is rare: none of 64 answers may have come near it.
    #expect(excess > -scale, "\(excess)")
    #expect(excess < 5 * scale / 2, "\(excess)")
    #expect(sink.lost < 10)
    #expect(!margin.isLosingAtLimit)
  }

  /// A settled margin needs few requests; a lost head unsettles it.
  @Test func marginSettlesAndALostHeadUnsettlesIt() {
    var margin = RewriteMargin(
      readAhead: 0, extra: 20 * Self.millisecond, limit: 150 * Self.millisecond)
    #expect(!margin.isSettled)
    for _ in 0..<1000 { margin.learn(slack: margin.nanoseconds - 5 * Self.millisecond) }
    #expect(margin.isSettled)
    margin.learn(slack: -Self.millisecond)
    #expect(!margin.isSettled)
  }

  @Test func oneStallMovesTheMarginLittleAndBriefly() {
    var margin = RewriteMargin(
      readAhead: 0, extra: 6 * Self.millisecond, limit: 150 * Self.millisecond)
    for _ in 0..<5 { margin.learn(slack: -60 * Self.millisecond) }
    #expect(margin.nanoseconds == 10 * Self.millisecond)
    var sink = ReadingSink(readsAhead: 0...5 * Self.millisecond)
    for _ in 0..<300 { sink.write(&margin) }
    #expect(margin.nanoseconds < 7 * Self.millisecond)
  }

  @Test func readAheadBeyondTheLimitIsDetected() {
    var margin = RewriteMargin(
      readAhead: 0, extra: 10 * Self.millisecond, limit: 60 * Self.millisecond)
    var sink = ReadingSink(readsAhead: 80 * Self.millisecond...120 * Self.millisecond)
    var writes = 0
    while !margin.isLosingAtLimit, writes < 1000 {
      sink.write(&margin)
      writes += 1
    }
    print("beyond the limit after \(writes) writes")
    #expect(writes < 300)
    #expect(margin.nanoseconds <= 60 * Self.millisecond)
  }

  @Test func reportedReadAheadRaisesTheMarginAtOnce() {
    var margin = RewriteMargin(
      readAhead: 0, extra: 7 * Self.millisecond, limit: 150 * Self.millisecond)
    margin.learn(readAhead: 110 * Self.millisecond)
    #expect(margin.nanoseconds == 117 * Self.millisecond)
    margin.learn(readAhead: 40 * Self.millisecond)
    #expect(margin.nanoseconds == 117 * Self.millisecond)
    margin.learn(readAhead: 400 * Self.millisecond)
    #expect(margin.nanoseconds == 150 * Self.millisecond)
    #expect(margin.isSinkBeyondLimit)
    for _ in 0..<70 { margin.learn(readAhead: 40 * Self.millisecond) }
    #expect(!margin.isSinkBeyondLimit)
    #expect(margin.nanoseconds == 47 * Self.millisecond)
  }

  @Test func rareStallsAtTheLimitAreTolerated() {
    var margin = RewriteMargin(
      readAhead: 0, extra: 60 * Self.millisecond, limit: 60 * Self.millisecond)
    for k in 0..<1000 {
      let slack = (k % 10 == 0 ? -5 : 1) * Self.millisecond
      margin.learn(slack: slack)
      #expect(!margin.isLosingAtLimit)
    }
  }
}

@Suite struct RewriteScheduleTests {
  private static let millisecond: Int64 = 1_000_000

  /// Runs one second with a refresh every `period` ms (nil for a single one). Returns the rewrites.
  private func rewrites(
    refreshEvery period: Int?, costMilliseconds: Double, writes: Bool = true
  ) -> (times: [Int64], share: Double) {
    var schedule = RewriteSchedule()
    var times: [Int64] = []
    for tick in 0..<10_000 {
      let now = Int64(tick) * Self.millisecond / 10 + 1_000_000_000
      if period.map({ tick % ($0 * 10) == 0 }) ?? (tick == 0) { schedule.ask() }
      guard let due = schedule.dueTime, now >= due else { continue }
      times.append(now)
      schedule.done(
        at: now, processorTime: Int64(costMilliseconds * 1e6), hasWritten: writes)
    }
    return (times, Double(times.count) * costMilliseconds / 1000)
  }

  @Test func refreshIsServedImmediately() {
    let (times, _) = rewrites(refreshEvery: 10, costMilliseconds: 0.5)
    #expect(times.count == 100)
    #expect(times.allSatisfy { $0 % (10 * Self.millisecond) == 0 })
  }

  @Test func frequentRefreshesAreThrottled() {
    let (times, share) = rewrites(refreshEvery: 1, costMilliseconds: 0.5)
    #expect((190...201).contains(times.count))
    #expect(share <= RewriteSchedule.largestShare)
  }

  @Test func rewritingRepeatsWithoutRefreshesWhileItWrites() {
    #expect((60...70).contains(rewrites(refreshEvery: nil, costMilliseconds: 0.5).times.count))
    #expect(rewrites(refreshEvery: nil, costMilliseconds: 0.5, writes: false).times.count == 1)
  }

  @Test(arguments: [2.0, 4, 8, 15])
  func costlyRewritesAreScheduledLessOften(cost: Double) {
    let (times, share) = rewrites(refreshEvery: 1, costMilliseconds: cost)
    print("a rewrite of \(cost) ms: \(times.count) in a second, \(share * 100) % of a core")
    #expect(share <= RewriteSchedule.largestShare + 0.03)
    #expect(times.count >= 5)
  }
}

@Suite struct RewriteJudgeTests {
  static let second: Int64 = 1_000_000_000

  func margin(readAhead: Int64) -> RewriteMargin {
    RewriteMargin(readAhead: readAhead, extra: 0, limit: 100)
  }

  @Test func persistentReadAheadBeyondTheLimitEndsRewriting() {
    var judge = RewriteJudge()
    judge.restart(now: 10 * Self.second)
    let looks: [(readAhead: Int64, hasBegun: Bool, now: Int64)] = [
      (101, true, 14 * Self.second), (101, false, 15 * Self.second),
      (100, true, 15 * Self.second), (101, true, 19 * Self.second),
      (101, true, 19 * Self.second + 1),
    ]
    let isGivenUp = looks.map {
      judge.givesUp(margin(readAhead: $0.readAhead), hasBegun: $0.hasBegun, now: $0.now)
    }
    #expect(isGivenUp == [false, false, false, false, true])
    let isTried = [101, 100].map {
      judge.triesAgain(margin(readAhead: $0), now: 20 * Self.second)
    }
    #expect(isTried == [false, true])
  }

  @Test func lossesAtTheLimitSuspendRewritingForAMinute() {
    var judge = RewriteJudge()
    var losing = margin(readAhead: 100)
    for _ in 0..<20 { losing.learn(slack: -1) }
    let isGivenUp = judge.givesUp(losing, hasBegun: false, now: Self.second)
    #expect(isGivenUp)
    let isTried = [61 * Self.second - 1, 61 * Self.second].map {
      judge.triesAgain(margin(readAhead: 0), now: $0)
    }
    #expect(isTried == [false, true])
  }
}
