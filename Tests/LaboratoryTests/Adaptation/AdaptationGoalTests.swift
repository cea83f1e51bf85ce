// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HLS
@testable import Laboratory

/// The goals of our rule, tested on simulated lines.
@Suite struct AdaptationGoalTests {
  private func figures(
    _ rule: ComparedRule, _ traces: [BandwidthTrace], ladder: Ladder = .bench,
    _ change: (inout SimulationConditions) -> Void = { _ in }
  ) -> AdaptationFigures {
    AdaptationFigures(
      meanOf: traces.map { trace in
        var conditions = SimulationConditions()
        change(&conditions)
        conditions.seconds = max(conditions.seconds, trace.seconds)
        return AdaptationFigures(
          rule.simulate(trace, ladder, conditions), trace: trace, ladder: ladder,
          seconds: conditions.seconds)
      })
  }

  @Test func theGoalsAreMetOverTheBuiltInLines() {
    let others = Dictionary(
      uniqueKeysWithValues: ComparedRule.allCases.filter { $0 != .stillstage }.map {
        ($0, figures($0, BandwidthTrace.builtIn))
      })
    let own = figures(.stillstage, BandwidthTrace.builtIn)
    #expect(own.missedGoals(others: others) == [])
  }

  @Test func missedGoalsAreNamed() {
    var own = figures(.stillstage, [.drop()])
    (own.stallPercent, own.flipsPerMinute) = (0.3, 0.7)
    (own.multichannelPercent, own.restoreSeconds) = (69, 12.1)
    var better = own
    (better.stallPercent, better.flipsPerMinute) = (0.2, 0.6)
    (better.multichannelPercent, better.restoreSeconds) = (70, 12)
    #expect(own.missedGoals(others: [.shaka: better, .gstreamer: better]).count == 7)
    better.restoreSeconds = 13
    #expect(own.missedGoals(others: [.shaka: better]).count == 4)
  }

  /// Lines with other seeds, which were not used to tune the rule, all in one test.
  @Test func otherLinesOfTheSameKindsAreNoSurprise() {
    let seeds: [UInt64] = Array(1000..<1012)
    let traces =
      seeds.map { BandwidthTrace.fades(seed: $0) } + seeds.map { BandwidthTrace.tunnels(seed: $0) }
      + seeds.map { BandwidthTrace.ramp(seed: $0) }
    let own = figures(.stillstage, traces)
    let rival = figures(.gstreamer, traces)
    #expect(own.stallPercent < 0.6 && own.stallPercent < rival.stallPercent)
    #expect(own.flipsPerMinute < 0.9 && own.flipsPerMinute < rival.flipsPerMinute / 2)
    #expect(own.multichannelPercent > 70 && own.multichannelPercent > rival.multichannelPercent)
    #expect(own.restoreSeconds ?? 99 < 12)
  }

  @Test(arguments: [0.02, 0.05, 0.1, 0.2])
  func theRoundTripHardlyMatters(seconds: Double) {
    let own = figures(.stillstage, BandwidthTrace.builtIn) { $0.roundTripSeconds = seconds }
    #expect(own.stallPercent < 0.35 && own.flipsPerMinute < 0.7)
    #expect(own.multichannelPercent > 75 && own.restoreSeconds ?? 99 < 13)
  }

  @Test(
    arguments: [
      [(48, false), (128, false), (192, true), (384, true), (640, true)],
      [(96, false), (256, true)],
    ] as [[(Double, Bool)]])
  func otherLaddersWorkToo(renditions: [(Double, Bool)]) {
    let ladder = Ladder(
      renditions.map { Rendition(uri: "\($0)", bitRate: $0 * 1000, isMultichannel: $1) })
    let own = figures(.stillstage, BandwidthTrace.builtIn, ladder: ladder)
    #expect(own.stallPercent < 0.6 && own.flipsPerMinute < 0.8)
    #expect(own.multichannelPercent > 70 && own.restoreSeconds ?? 99 < 14)
  }

  /// Three stereo and two multichannel rungs with video, on lines with three times the rate.
  @Test func aLadderOfFilmsWorksToo() {
    let ladder = Ladder(
      [(150, false), (300, false), (450, false), (600, true), (1200, true)].map {
        Rendition(uri: "\($0)", bitRate: $0 * 1000, isMultichannel: $1)
      })
    let traces = BandwidthTrace.builtIn.map { trace in
      BandwidthTrace(name: trace.name, kilobitsPerSecond: trace.rates.map { $0 * 3 / 1000 })
    }
    let own = figures(.stillstage, traces, ladder: ladder)
    #expect(own.stallPercent < 0.4 && own.flipsPerMinute < 0.7)
    #expect(own.multichannelPercent > 75 && own.restoreSeconds ?? 99 < 13)
  }

  @Test func onDemandMultichannelHardlyEverEnds() {
    let own = figures(.stillstage, BandwidthTrace.builtIn) {
      ($0.isLive, $0.bufferSeconds) = (false, 30)
    }
    #expect(own.stallPercent < 0.1 && own.flipsPerMinute < 0.2 && own.multichannelPercent > 90)
  }

  /// At 300 kbit/s, the first sound comes within 2.6 s, and almost all of it is multichannel.
  @Test func theStartIsQuickOnAThinLine() {
    let own = figures(.stillstage, [BandwidthTrace(name: "thin", kilobitsPerSecond: [300])])
    #expect((own.startSeconds ?? .nan) <= 2.6)
    #expect(own.stallPercent == 0 && own.multichannelPercent > 98)
  }
}
