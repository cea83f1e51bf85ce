// SPDX-License-Identifier: Apache-2.0

/// Assigns inputs and their filters to the lanes of quads. A quad is four lanes that are processed
/// together, each with one input.
struct QuadLanes {
  let isSymmetric: Bool
  var quads: Int { inputs.count / 4 }
  /// The index of the input in each lane; nil for an empty lane.
  let inputs: [Int?]
  private let left: [[Float]]
  private let right: [[Float]]
  private let evenCount: Int

  /// Assigns the inputs to lanes. `left` and `right` are filters, inputs x taps.
  init(left: [[Float]], right: [[Float]], usesSymmetry: Bool) {
    (self.left, self.right) = (left, right)
    let symmetry = usesSymmetry ? EarSymmetry(left: left, right: right) : nil
    isSymmetric = symmetry != nil
    let order = symmetry.map { $0.even + $0.odd } ?? Array(left.indices)
    evenCount = symmetry?.even.count ?? 0
    let empty = (4 - order.count % 4) % 4
    inputs = order.map { Optional($0) } + [Int?](repeating: nil, count: empty)
  }

  /// Returns the number of lanes of a quad whose inputs reach both ears equally; 0 unless
  /// `isSymmetric`. These lanes come first in the quad.
  func evenLanes(quad: Int) -> Int { min(4, max(0, evenCount - 4 * quad)) }

  /// Returns the filter of a lane; empty for an empty lane. If `isSymmetric`, the result is the
  /// mean of the ears' filters. The right filter is negated first if its input reaches the ears
  /// with opposite signs.
  ///
  /// - Parameter ear: 0 for the left ear, 1 for the right ear; not used if `isSymmetric`.
  func filter(lane: Int, ear: Int) -> [Float] {
    guard let input = inputs[lane] else { return [] }
    if !isSymmetric { return ear == 0 ? left[input] : right[input] }
    let sign: Float = lane < evenCount ? 1 : -1
    let count = max(left[input].count, right[input].count)
    return (0..<count).map { k in
      let l = k < left[input].count ? left[input][k] : 0
      let r = k < right[input].count ? right[input][k] : 0
      return 0.5 * (l + sign * r)
    }
  }
}

/// The symmetry of filters whose left and right versions are equal or differ only in sign.
struct EarSymmetry {
  /// The indices of the inputs that reach both ears equally.
  let even: [Int]
  /// The indices of the inputs that reach the ears with opposite signs.
  let odd: [Int]

  /// The largest accepted energy of the deviation from symmetry, relative to the energy of all
  /// filters: -120 dB.
  private static let tolerance = 1e-12

  /// Finds the symmetry of the filters `left` and `right`, inputs x taps. Returns nil if there is
  /// none, or if all filters are zero.
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
