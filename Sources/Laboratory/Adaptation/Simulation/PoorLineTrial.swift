// SPDX-License-Identifier: Apache-2.0

import HLS

/// Simulations of Stillstage's rule with an on-demand presentation over several lines. Each figure
/// of a line is the median over five runs of 10 minutes. The runs start at different places in the
/// trace.
package struct PoorLineTrial: Sendable {
  package struct Line: Sendable {
    package let name: String
    package let figures: AdaptationFigures
  }

  package let lines: [Line]
  /// The means over the lines.
  package let mean: AdaptationFigures

  /// The limits that the means must meet in the runs without an outage, in the units of
  /// `AdaptationFigures`.
  package static let floors = Limits(stall: 0.25, flips: 0.6, multichannel: 70, restore: 12)
  /// The goals for the means, in the same units.
  package static let goals = Limits(stall: 0.1, flips: 0.4, multichannel: 80, restore: 6)

  package struct Limits: Sendable {
    package let stall: Double
    package let flips: Double
    package let multichannel: Double
    package let restore: Double
  }

  private static let offsets = 5
  private static let outageStart = 300
  private static let outageSeconds = 30

  /// - Parameter hasOutage: whether the rate of each line is 0 from 300 s to 330 s.
  package init(_ traces: [BandwidthTrace] = BandwidthTrace.poorLines, hasOutage: Bool) {
    lines = traces.map { Line(name: $0.name, figures: Self.median($0, hasOutage: hasOutage)) }
    mean = AdaptationFigures(meanOf: lines.map(\.figures))
  }

  private static func median(_ trace: BandwidthTrace, hasOutage: Bool) -> AdaptationFigures {
    let conditions = SimulationConditions.supply(isLive: false)
    return AdaptationFigures(
      medianOf: (0..<offsets).map { number in
        var line = trace.shifted(by: number * trace.rates.count / offsets)
        if hasOutage {
          let outage = outageStart..<outageStart + outageSeconds
          line = line.interrupted(outage, length: Int(conditions.seconds))
        }
        return AdaptationFigures(
          ComparedRule.stillstage.simulate(line, .bench, conditions), trace: line, ladder: .bench,
          seconds: conditions.seconds)
      })
  }

  /// The line with the most changes between stereo and multichannel per minute; nil if there are no
  /// lines.
  package var worst: Line? { lines.max { $0.figures.flipsPerMinute < $1.figures.flipsPerMinute } }

  /// A clause, such as "stalls are above 0.25 %", for each limit that the means do not meet.
  package var missedFloors: [String] {
    let floors = Self.floors
    var missed: [String] = []
    if mean.stallPercent > floors.stall { missed.append("stalls are above \(floors.stall) %") }
    if mean.flipsPerMinute > floors.flips {
      missed.append("flips are above \(floors.flips) per minute")
    }
    if mean.multichannelPercent < floors.multichannel {
      missed.append("multichannel is below \(floors.multichannel) %")
    }
    if mean.restoreSeconds ?? 0 > floors.restore {
      missed.append("restoring multichannel takes more than \(floors.restore) s")
    }
    return missed
  }
}

extension BandwidthTrace {
  /// Returns the trace with its first `rows` rows moved to the end. Each row must last 1 s.
  func shifted(by rows: Int) -> BandwidthTrace {
    BandwidthTrace(
      name: name,
      kilobitsPerSecond: rates.indices.map { rates[($0 + rows) % rates.count] / 1000 })
  }

  /// Returns the first `length` s of the repeating trace, with a rate of 0 in the seconds `outage`.
  /// Each row must last 1 s.
  func interrupted(_ outage: Range<Int>, length: Int) -> BandwidthTrace {
    BandwidthTrace(
      name: name,
      kilobitsPerSecond: (0..<length).map { second in
        outage.contains(second) ? 0 : rates[second % rates.count] / 1000
      })
  }
}
