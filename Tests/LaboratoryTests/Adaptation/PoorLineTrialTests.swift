// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HLS
@testable import Laboratory

@Suite struct PoorLineTrialTests {
  /// The expected numbers are those of `random.Random(1)` in Python 3.11.
  @Test func theGeneratorGivesTheNumbersOfPython() {
    var chance = MersenneTwister(1)
    #expect(abs(chance.uniform() - 0.13436424411240122) < 1e-16)
    #expect(abs(chance.uniform() - 0.8474337369372327) < 1e-16)
    var normal = MersenneTwister(1)
    #expect(abs(normal.gaussian() - 1.2881847531554629) < 1e-12)
    #expect(abs(normal.gaussian() - 1.449445608699771) < 1e-12)
    var integers = MersenneTwister(2)
    #expect((0..<1000).allSatisfy { _ in (2...8).contains(integers.integer(2...8)) })
  }

  @Test func thePoorLinesFollowTheirRules() {
    let lines = BandwidthTrace.poorLines
    #expect(lines.count == 25 && Set(lines.map(\.name)).count == 25)
    #expect(lines.map(\.seconds) == [120, 180, 180, 180, 190] + Array(repeating: 180, count: 20))
    #expect(lines == BandwidthTrace.poorLines)
    for line in lines where line.name.hasPrefix("metro3g") {
      #expect(line.rates[60..<72].allSatisfy { $0 == 12_000 })
    }
    for line in lines where line.name.hasPrefix("two_states") {
      #expect(line.rates.allSatisfy { abs($0 - 420e3) <= 21_500 || abs($0 - 130e3) <= 7000 })
      let dwells = line.rates.split { $0 < 200e3 }.map(\.count)
      #expect(dwells.dropLast().allSatisfy { (2...20).contains($0) })
    }
  }

  @Test func theFloorsAreMet() {
    let trial = PoorLineTrial(hasOutage: false)
    #expect(trial.missedFloors == [])
    let interrupted = PoorLineTrial(hasOutage: true)
    #expect(interrupted.mean.stallPercent < 0.5)
    #expect(interrupted.mean.flipsPerMinute < 0.4)
  }

  @Test func missedFloorsAreNamed() {
    let thin = BandwidthTrace(name: "thin", kilobitsPerSecond: [40])
    #expect(PoorLineTrial([thin], hasOutage: false).missedFloors.count == 2)
  }

  @Test(arguments: [true, false])
  func aSteadyLineGetsMultichannelFrom220KilobitsPerSecond(isLive: Bool) {
    for rate in [205.0, 220, 235, 255, 265] {
      let line = BandwidthTrace(name: "steady", kilobitsPerSecond: [rate])
      let conditions = SimulationConditions.supply(isLive: isLive)
      let figures = AdaptationFigures(
        ComparedRule.stillstage.simulate(line, .bench, conditions), trace: line, ladder: .bench,
        seconds: 600)
      #expect(figures.stallPercent == 0 && figures.flipsPerMinute <= 0.6, "\(rate) kbit/s")
      #expect(rate < 220 || figures.multichannelPercent > 90, "\(rate) kbit/s")
    }
  }

  /// Other seeds than those of the table.
  @Test func aLineOfTwoStatesHardlyChanges() {
    let trial = PoorLineTrial((11...16).map { .twoStates(seed: $0) }, hasOutage: false)
    #expect(trial.mean.flipsPerMinute <= 0.4 && trial.worst?.figures.flipsPerMinute ?? 9 <= 0.6)
  }
}
