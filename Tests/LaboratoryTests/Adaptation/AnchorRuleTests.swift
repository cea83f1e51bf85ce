// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import HLS
@testable import Laboratory

/// The other players' rules behave as published.
@Suite struct AnchorRuleTests {
  private func situation(_ now: Double, buffer: Double, live: Double? = nil) -> PlaySituation {
    PlaySituation(
      now: now, elapsed: now, buffer: buffer, segmentSeconds: 4, hasStarted: true,
      liveDistance: live)
  }

  private func timing(
    _ end: Double, kilobits: Double, seconds: Double = 2
  ) -> SegmentTiming {
    SegmentTiming(
      end: end, bytes: Int(kilobits * 125 * seconds), seconds: seconds, firstByteSeconds: 0.1)
  }

  @Test func theHalfLifeMeanIsCorrectedForItsStart() {
    var mean = HalfLifeMean(halfLife: 3)
    #expect(mean.value == nil)
    mean.add(700, weight: 0.5)
    #expect(abs((mean.value ?? .nan) - 700) < 1e-9)
    mean.add(100, weight: 3)
    // The weight of the older value has halved; the newer value has a weight of 0.5.
    let old = (1 - exp2(-0.5 / 3)) / 2
    #expect(abs((mean.value ?? .nan) - (700 * old + 100 * 0.5) / (old + 0.5)) < 1e-9)
  }

  /// 330 kbit/s needs 330 / 0.7 = 471 kbit/s to switch up and 330 / 0.95 = 347 kbit/s to stay.
  @Test func hlsJSNeedsMoreToGoUpThanToStay() {
    for (rate, rendition) in [(460.0, 2), (480, 3)] {
      var rule = HLSJSRule(ladder: .bench)
      rule.record(timing(2, kilobits: rate), rendition: 0)
      #expect(rule.next(situation(2, buffer: 30)) == rendition)
    }
    for (rate, rendition) in [(340.0, 2), (355, 3)] {
      var rule = HLSJSRule(ladder: .bench)
      rule.record(timing(2, kilobits: 900), rendition: 0)
      #expect(rule.next(situation(2, buffer: 30)) == 3)
      for _ in 0..<40 { rule.record(timing(9, kilobits: rate), rendition: 3) }
      #expect(rule.next(situation(9, buffer: 30)) == rendition)
    }
  }

  @Test func hlsJSAbandonsWhatWouldEmptyTheBuffer() {
    var rule = HLSJSRule(ladder: .bench)
    var download = DownloadProgress(requestTime: 0, totalBytes: 100_000)
    download.received(20_000, at: 2)
    // At 80 kbit/s, the rest takes 8 s; at 0.8 of that rate, the cheapest rendition takes 3.3 s.
    let early = rule.course(of: download, rendition: 2, secondsLeft: nil, situation(1.9, buffer: 4))
    #expect(early == .goOn)
    let empty = rule.course(of: download, rendition: 2, secondsLeft: nil, situation(2, buffer: 4))
    #expect(empty == .abandon(rendition: 0))
    let full = rule.course(of: download, rendition: 2, secondsLeft: nil, situation(2, buffer: 8.1))
    #expect(full == .goOn)
  }

  @Test func exoPlayerTakesTheMedianAndWaitsForTheBuffer() {
    var rule = ExoPlayerRule(ladder: .bench)
    // Seven weights of 158 against one of 866.
    for rate in [100.0, 100, 100, 100, 3000, 100, 100, 100] {
      rule.record(timing(0, kilobits: rate), rendition: 0)
    }
    #expect(rule.next(situation(0, buffer: 20)) == 0)
    for _ in 0..<20 { rule.record(timing(0, kilobits: 300), rendition: 0) }
    #expect(rule.next(situation(0, buffer: 9.9)) == 0)
    #expect(rule.next(situation(0, buffer: 10)) == 2)
    for _ in 0..<20 { rule.record(timing(0, kilobits: 60), rendition: 0) }
    #expect(rule.next(situation(0, buffer: 25)) == 2)
    #expect(rule.next(situation(0, buffer: 24.9)) == 0)
    for _ in 0..<20 { rule.record(timing(0, kilobits: 300), rendition: 0) }
    #expect(rule.next(situation(0, buffer: 7, live: 10)) == 0)
    #expect(rule.next(situation(0, buffer: 7.6, live: 10)) == 2)
  }

  @Test func shakaWaitsEightSecondsBetweenChanges() {
    var rule = ShakaRule(ladder: .bench)
    // Until 128 kB have arrived, the estimate is 1 Mbit/s.
    #expect(rule.next(situation(0, buffer: 5)) == 3)
    for _ in 0..<20 { rule.record(timing(1, kilobits: 150), rendition: 3) }
    #expect(rule.next(situation(7.9, buffer: 5)) == 3)
    #expect(rule.next(situation(8, buffer: 5)) == 1)
    // 330 / 0.95 = 347. Up to 388 the rendition below is also eligible, but the richer one wins.
    for (rate, rendition) in [(340.0, 2), (355, 3), (395, 3)] {
      var rule = ShakaRule(ladder: .bench)
      for _ in 0..<20 { rule.record(timing(1, kilobits: rate), rendition: 0) }
      #expect(rule.next(situation(0, buffer: 5)) == rendition)
    }
  }

  @Test func gStreamerTakesTheLowerOfTheLastAndTheMeanOfThree() {
    var rule = GStreamerRule(ladder: .bench)
    #expect(rule.next(situation(0, buffer: 0)) == 0)
    for (rate, rendition) in [
      (420.0, 3), (249, 1), (251, 2), (2000, 3), (60, 0), (1000, 3), (1000, 3),
    ] {
      rule.record(timing(0, kilobits: rate), rendition: 0)
      #expect(rule.next(situation(0, buffer: 9)) == rendition, "\(rate)")
    }
  }

  /// BOLA switches to the next rendition at the buffer level at which both have the same score.
  @Test func bolaChangesAtItsBufferLevels() {
    let rates = Ladder.bench.map(\.bitRate)
    let utilities = rates.map { log($0 / rates[0]) }
    // With four renditions the target is 18 s, so the gain is the top utility over 0.8.
    let gain = utilities[3] / 0.8
    let scale = 10 / gain
    var rule = BOLARule(ladder: .bench)
    var last = 0
    for upper in 1...3 {
      let (a, b) = (rates[upper - 1], rates[upper])
      let level =
        scale * (gain + (utilities[upper - 1] * b - utilities[upper] * a) / (b - a))
      #expect(rule.next(situation(0, buffer: level - 0.01)) == upper - 1)
      #expect(rule.next(situation(0, buffer: level + 0.01)) == upper)
      #expect(level >= Double(last))
      last = Int(level)
    }
    #expect(rule.next(situation(0, buffer: 0)) == 0)
  }
}
