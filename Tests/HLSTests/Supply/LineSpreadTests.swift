// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import HLS
@testable import Laboratory

/// How far the time stalled depends on differences that no player controls.
@Suite struct LineSpreadTests {
  private static let lines = (101...107).flatMap { seed in
    [
      BandwidthTrace.metro3g(seed: UInt32(seed)), .busLTE(seed: UInt32(seed)),
      .twoStates(seed: UInt32(seed)),
    ]
  }

  @Test func spread() throws {
    guard getenv("SPREAD") != nil else { return }
    for line in Self.lines {
      var simulated: [Double] = []
      var played: [Double] = []
      for step in 0..<7 {
        var conditions = SimulationConditions.supply(isLive: true)
        conditions.roundTripSeconds += Double(step - 3) * 0.002
        simulated.append(
          figures(ComparedRule.stillstage.simulate(line, .bench, conditions), line).stallPercent)
        played.append(
          figures(
            try TracedPlayer(line, .bench, conditions).play { RenditionChoice(ladder: $0) }, line
          ).stallPercent)
      }
      print("SPREAD \(line.name) sim \(text(simulated)) player \(text(played))")
    }
  }

  private func text(_ values: [Double]) -> String {
    values.map { "\(($0 * 100).rounded() / 100)" }.joined(separator: " ")
  }

  private func figures(_ result: SimulationResult, _ line: BandwidthTrace) -> AdaptationFigures {
    AdaptationFigures(result, trace: line, ladder: .bench, seconds: 600)
  }
}
