// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HLS
@testable import Laboratory

/// The code that fetches for the player, over the lines of the simulation.
@Suite struct PoorLineTests {
  /// The largest difference between player and simulation in the time stalled, in percentage
  /// points.
  private static let tolerance = 0.1

  private static let lines =
    BandwidthTrace.fixedPoorLines + [.metro3g(seed: 31), .twoStates(seed: 31)]

  @Test(arguments: [true, false])
  func playerAndSimulationStallForTheSameTime(isLive: Bool) throws {
    let conditions = SimulationConditions.supply(isLive: isLive)
    for line in Self.lines {
      let simulated = figures(ComparedRule.stillstage.simulate(line, .bench, conditions), line)
      let player = TracedPlayer(line, .bench, conditions)
      let played = figures(try player.play { RenditionChoice(ladder: $0) }, line)
      #expect(player.failure == nil)
      #expect(
        abs(played.stallPercent - simulated.stallPercent) <= Self.tolerance,
        "\(line.name): player \(played.stallPercent) %, simulation \(simulated.stallPercent) %")
      #expect(abs(played.multichannelPercent - simulated.multichannelPercent) <= 5, "\(line.name)")
    }
  }

  /// Nothing arrives for 30 s, and requests from that time are never answered.
  @Test(arguments: [true, false])
  func dataIsRequestedAtOnceAfterAnOutage(isLive: Bool) throws {
    var conditions = SimulationConditions.supply(isLive: isLive)
    conditions.seconds = 200
    for start in stride(from: 60.0, to: 64, by: 0.7) {
      let line = BandwidthTrace(name: "line", kilobitsPerSecond: [500])
      let outage = start..<start + 30
      let player = TracedPlayer(line, .bench, conditions, outage: outage)
      let result = try player.play { RenditionChoice(ladder: $0) }
      #expect(player.failure == nil, "\(player.failure ?? "")")
      let first = try #require(player.requests.first { $0.time >= outage.upperBound })
      #expect(first.time - outage.upperBound <= 1, "\(first.time - outage.upperBound) s")
      let stalled = result.heard.filter { $0.rendition == nil }.reduce(0) { $0 + $1.seconds }
      #expect(stalled <= (isLive ? 24 : 6), "\(stalled) s")
    }
  }

  private func figures(_ result: SimulationResult, _ line: BandwidthTrace) -> AdaptationFigures {
    AdaptationFigures(result, trace: line, ladder: .bench, seconds: 600)
  }
}
