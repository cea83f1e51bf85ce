// SPDX-License-Identifier: Apache-2.0

/// Statistics of measured values.
package struct Distribution: Sendable, Equatable, Codable {
  package let count: Int
  package let mean: Double
  /// The population standard deviation.
  package let deviation: Double
  package let minimum: Double
  package let p50: Double
  package let p95: Double
  package let p99: Double
  package let maximum: Double

  /// Computes the statistics; nil if there are no values.
  package init?(_ values: [Double]) {
    guard !values.isEmpty else { return nil }
    let sorted = values.sorted()
    let count = Double(values.count)
    let mean = values.reduce(0, +) / count
    self.count = values.count
    self.mean = mean
    deviation =
      (values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / count).squareRoot()
    minimum = sorted[0]
    p50 = Self.percentile(50, of: sorted)
    p95 = Self.percentile(95, of: sorted)
    p99 = Self.percentile(99, of: sorted)
    maximum = sorted[sorted.count - 1]
  }

  /// Returns a percentile (0 to 100) of ascending values, interpolated linearly between neighbours.
  /// `sorted` must not be empty.
  package static func percentile(_ percent: Double, of sorted: [Double]) -> Double {
    let place = percent / 100 * Double(sorted.count - 1)
    let low = Int(place.rounded(.down))
    let high = min(low + 1, sorted.count - 1)
    return sorted[low] + (place - Double(low)) * (sorted[high] - sorted[low])
  }
}
