// SPDX-License-Identifier: Apache-2.0

import Glibc
import HLS

/// A mean whose older values fade: a weight halves with every `halfLife` of weight that follows.
/// Corrected for its start at 0.
struct HalfLifeMean: Sendable {
  private let halfLife: Double
  private var sum = 0.0
  private(set) var weight = 0.0

  init(halfLife: Double) { self.halfLife = halfLife }

  mutating func add(_ value: Double, weight added: Double) {
    let kept = exp2(-added / halfLife)
    sum = value * (1 - kept) + kept * sum
    weight += added
  }

  /// Nil before the first value.
  var value: Double? {
    let share = 1 - exp2(-weight / halfLife)
    return share > 0 ? sum / share : nil
  }
}

extension SegmentTiming {
  /// bit/s with the wait for the first byte, as most players count it.
  var overallRate: Double { Double(bytes) * 8 / max(seconds, 0.001) }
}

extension Ladder {
  /// The richest rendition that is not above a rate; the cheapest where none is.
  func richest(upTo rate: Double) -> Int { lastIndex { $0.bitRate <= rate } ?? 0 }
}
