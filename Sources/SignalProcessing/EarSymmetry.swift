// SPDX-License-Identifier: Apache-2.0

/// Whether two ears' filters are mirror images: every input comes to both ears alike, or with
/// opposite signs.
struct EarSymmetry {
  /// Inputs that come to both ears alike.
  let even: [Int]
  /// Inputs that come to the ears with opposite signs.
  let odd: [Int]

  /// What the mirrored half may differ by, of the energy of all filters: -120 dB.
  private static let tolerance = 1e-12

  /// Nil where the filters are no mirror images.
  ///
  /// - Parameters:
  ///   - left: inputs x taps.
  ///   - right: inputs x taps.
  init?(left: [[Float]], right: [[Float]]) {
    var (even, odd) = ([Int](), [Int]())
    var (total, rest) = (0.0, 0.0)
    for (input, (l, r)) in zip(left, right).enumerated() {
      var (sum, difference) = (0.0, 0.0)
      for k in 0..<max(l.count, r.count) {
        let (a, b) = (k < l.count ? Double(l[k]) : 0, k < r.count ? Double(r[k]) : 0)
        sum += (a + b) * (a + b)
        difference += (a - b) * (a - b)
        total += a * a + b * b
      }
      if difference <= sum { even.append(input) } else { odd.append(input) }
      rest += min(sum, difference)
    }
    guard rest <= 2 * Self.tolerance * total, total > 0 else { return nil }
    (self.even, self.odd) = (even, odd)
  }
}
