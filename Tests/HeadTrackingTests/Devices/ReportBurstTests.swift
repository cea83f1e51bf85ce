// SPDX-License-Identifier: Apache-2.0

import Geometry
import Testing

@testable import HeadTracking

/// Tests the handling of waiting reports, in simulated time.
@Suite struct ReportBurstTests {
  /// A device that makes one report per `period`, and a reader that takes `cost` for each.
  private struct Simulation {
    var now: Int64 = 0
    var made: Int64 = 0
    let period: Int64
    let cost: Int64
    let isRaw: Bool

    mutating func burst() -> TrackerNews {
      // Use a copy for exclusive access: the clock is read while a report is read.
      var state = self
      defer { self = state }
      return withUnsafeMutablePointer(to: &state) { state in
        ReportBurst(clock: { state.pointee.now }) { isFirst in state.pointee.next(isFirst) }.news
      }
    }

    private mutating func next(_ isFirst: Bool) -> ReportBurst.Report {
      now += cost
      if isFirst { now = max(now, made * period) }
      guard made * period <= now else { return .nothing }
      made += 1
      let still = SIMD3<Double>.zero
      return .readings([
        isRaw
          ? .inertial(
            InertialSample(time: made * period, angularVelocity: still, specificForce: still))
          : .head(HeadSample(time: made * period, headToWorld: .identity))
      ])
    }
  }

  private func readings(_ news: TrackerNews) -> [TrackerReading] {
    guard case .readings(let readings, let rejected) = news, rejected == 0 else { return [] }
    return readings
  }

  /// Readings arrive even if the queue fills as fast as it is read. Without the time limit, a busy
  /// machine got no readings at all.
  @Test(arguments: [true, false], [1_000_000, 1_100_000, 4_000_000, 40_000_000])
  func readingsArriveIfTheQueueNeverRunsEmpty(isRaw: Bool, cost: Int64) {
    var simulation = Simulation(period: 1_000_000, cost: cost, isRaw: isRaw)
    var taken = 0
    while simulation.now < 2_000_000_000 {
      let before = (simulation.now, simulation.made)
      let found = readings(simulation.burst())
      #expect(simulation.now - before.0 <= 20_000_000 + 2 * cost)
      #expect(found.count == (isRaw ? Int(simulation.made - before.1) : 1))
      taken += found.count
    }
    #expect(taken > (isRaw ? 40 : 10))
  }

  @Test(arguments: [true, false]) func fullQueueYieldsOnlySamplesWithTheirOwnTime(isRaw: Bool) {
    var simulation = Simulation(now: 63_000_000, period: 1_000_000, cost: 3_000, isRaw: isRaw)
    #expect(readings(simulation.burst()).count == (isRaw ? 64 : 0))
    #expect(readings(simulation.burst()).count == 1)
  }

  @Test func newestOfSeveralOrientationsIsUsed() {
    var simulation = Simulation(now: 5_500_000, period: 1_000_000, cost: 3_000, isRaw: false)
    let found = readings(simulation.burst())
    #expect(found == [.head(HeadSample(time: 6_000_000, headToWorld: .identity))])
  }
}
