// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The range of an axis.
enum ChartRange {
  /// The space on each side of the data, as a fraction of the data's range. On a logarithmic axis,
  /// the range of the logarithms counts.
  static let margin = 0.04

  /// Returns a range that contains all values that the scale can show, with a margin on each side;
  /// nil if the scale can show none.
  static func fitted(_ values: some Sequence<Double>, _ scale: ChartScale) -> ClosedRange<Double>? {
    switch scale {
    case .linear:
      return fitted(values.filter(\.isFinite))
    case .logarithmic:
      let logarithms = values.filter { $0.isFinite && $0 > 0 }.map { log($0) }
      return fitted(logarithms).map { exp($0.lowerBound)...exp($0.upperBound) }
    }
  }

  /// Returns the numbers in a positive range that are 1, 2 or 5 times a power of ten. If the range
  /// exceeds three decades, returns only the powers of ten.
  static func decimalSteps(in range: ClosedRange<Double>) -> [Double] {
    let (first, last) = (log10(range.lowerBound).rounded(.down), log10(range.upperBound))
    let factors = last - log10(range.lowerBound) > 3 ? [1.0] : [1, 2, 5]
    return stride(from: first, through: last, by: 1).flatMap { exponent in
      factors.map { $0 * pow(10, exponent) }
    }.filter { range.contains($0) }
  }

  private static func fitted(_ values: [Double]) -> ClosedRange<Double>? {
    guard let least = values.min(), let most = values.max() else { return nil }
    // If all values are equal, the range still needs a width above 0.
    let span = most > least ? (most - least) * margin : max(abs(most) * 0.1, 0.1)
    return (least - span)...(most + span)
  }
}
