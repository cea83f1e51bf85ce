// SPDX-License-Identifier: Apache-2.0

extension HRTFSet {
  /// The fraction of the sphere that each direction represents, with large areas limited as in
  /// `areaWeights(limitingCaps:)`. The fractions sum to 1.
  public var areaWeights: [Double] { areaWeights(limitingCaps: true) }

  /// Returns the areas of the directions' Voronoi cells, scaled to sum to 1. Equal directions share
  /// a cell equally.
  ///
  /// - Parameter limitingCaps: whether to limit each area to three times the median area before
  ///   scaling. The directions around a large gap then do not represent the whole gap.
  public func areaWeights(limitingCaps: Bool) -> [Double] {
    Self.areaWeights(SphericalVoronoi(directions).areas, limitingCaps: limitingCaps)
  }

  /// The largest angle from a point of the sphere to its nearest direction, in degrees.
  /// Values of about 90 degrees or more are approximate.
  public var largestGapDegrees: Double { SphericalVoronoi(directions).largestGap * 180 / .pi }

  static func areaWeights(_ areas: [Double], limitingCaps: Bool) -> [Double] {
    guard !areas.isEmpty else { return [] }
    var limited = areas
    if limitingCaps {
      let sorted = areas.sorted()
      let half = sorted.count / 2
      let median =
        sorted.count.isMultiple(of: 2) ? (sorted[half - 1] + sorted[half]) / 2 : sorted[half]
      limited = areas.map { min($0, 3 * median) }
    }
    let sum = limited.reduce(0, +)
    return sum > 0
      ? limited.map { $0 / sum } : areas.map { _ in 1 / Double(areas.count) }
  }
}
