// SPDX-License-Identifier: Apache-2.0

/// By how much the values of one group are above those of another at the same value of a covariate:
/// analysis of covariance with one slope for both (R. A. Fisher, Statistical Methods for Research
/// Workers, 1932).
public struct GroupDifference: Sendable, Equatable {
  public var difference: Double
  /// Standard error.
  public var uncertainty: Double

  public typealias Row = (wait: Double, latency: Double)

  /// Nil where a group has fewer than four rows.
  public init?(_ first: [Row], _ second: [Row]) {
    guard first.count > 3, second.count > 3 else { return nil }
    let groups = [first, second]
    let means = groups.map { rows in
      (
        x: rows.reduce(0) { $0 + $1.wait } / Double(rows.count),
        y: rows.reduce(0) { $0 + $1.latency } / Double(rows.count)
      )
    }
    var (xx, xy, yy) = (0.0, 0.0, 0.0)
    for (rows, mean) in zip(groups, means) {
      for row in rows {
        xx += (row.wait - mean.x) * (row.wait - mean.x)
        xy += (row.wait - mean.x) * (row.latency - mean.y)
        yy += (row.latency - mean.y) * (row.latency - mean.y)
      }
    }
    let slope = xx > 1e-12 ? xy / xx : 0
    let shift = means[1].x - means[0].x
    difference = means[1].y - means[0].y - slope * shift
    let variance = max(0, yy - slope * xy) / Double(first.count + second.count - 3)
    let spread = 1 / Double(first.count) + 1 / Double(second.count)
    uncertainty = (variance * (spread + (xx > 1e-12 ? shift * shift / xx : 0))).squareRoot()
  }
}
