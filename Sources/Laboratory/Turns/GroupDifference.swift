// SPDX-License-Identifier: Apache-2.0

/// The latency difference between two groups of turns, corrected for the waits of the turns (see
/// `Row`). The method is analysis of covariance with a common slope [R. A. Fisher, Statistical
/// Methods for Research Workers, 1932].
package struct GroupDifference: Sendable, Equatable {
  /// Mean latency of the second group minus that of the first at equal waits, in the unit of the
  /// rows.
  package var difference: Double
  /// The standard error of `difference`.
  package var uncertainty: Double

  /// A turn's latency, and its wait: the time from the tracker's report to the renderer's request
  /// for a pose.
  package typealias Row = (wait: Double, latency: Double)

  /// Fits parallel lines to both groups, and removes outliers in up to five rounds. A round that
  /// would leave fewer than four rows in a group removes none. A row is an outlier if it deviates
  /// from its line by more than three standard deviations [estimated from the median absolute
  /// residual].
  ///
  /// - Returns: nil if a group has fewer than four rows.
  package init?(_ first: [Row], _ second: [Row]) {
    var groups = [first, second]
    guard var fit = Fit(groups) else { return nil }
    for _ in 0..<5 {
      let residuals = groups.indices.map { group in
        groups[group].map { abs($0.latency - fit.latency(of: group, at: $0.wait)) }
      }
      let sorted = residuals.joined().sorted()
      let limit = 3 * 1.4826 * Distribution.percentile(50, of: sorted) + 1e-9
      let kept = groups.indices.map { group in
        zip(groups[group], residuals[group]).filter { $0.1 <= limit }.map(\.0)
      }
      guard kept[0].count < groups[0].count || kept[1].count < groups[1].count,
        let better = Fit(kept)
      else { break }
      (groups, fit) = (kept, better)
    }
    difference = fit.difference
    uncertainty = fit.uncertainty
  }

  /// A least-squares fit of two parallel lines.
  private struct Fit {
    let means: [Row]
    let slope: Double
    let uncertainty: Double
    let difference: Double

    init?(_ groups: [[Row]]) {
      guard groups.allSatisfy({ $0.count > 3 }) else { return nil }
      means = groups.map { rows in
        (
          wait: rows.reduce(0) { $0 + $1.wait } / Double(rows.count),
          latency: rows.reduce(0) { $0 + $1.latency } / Double(rows.count)
        )
      }
      var (xx, xy, yy) = (0.0, 0.0, 0.0)
      for (rows, mean) in zip(groups, means) {
        for row in rows {
          let (x, y) = (row.wait - mean.wait, row.latency - mean.latency)
          xx += x * x
          xy += x * y
          yy += y * y
        }
      }
      slope = xx > 1e-12 ? xy / xx : 0
      let shift = means[1].wait - means[0].wait
      difference = means[1].latency - means[0].latency - slope * shift
      let counts = groups.map { Double($0.count) }
      let variance = max(0, yy - slope * xy) / (counts[0] + counts[1] - 3)
      let spread = 1 / counts[0] + 1 / counts[1]
      uncertainty = (variance * (spread + (xx > 1e-12 ? shift * shift / xx : 0))).squareRoot()
    }

    func latency(of group: Int, at wait: Double) -> Double {
      means[group].latency + slope * (wait - means[group].wait)
    }
  }
}
