// SPDX-License-Identifier: Apache-2.0

import Glibc
import HLS

/// An exponentially weighted mean. The weight of a value halves whenever later values with a total
/// weight of `halfLife` have been added. The bias towards the initial value 0 is corrected.
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

  /// The mean; nil before the first value.
  var value: Double? {
    let share = 1 - exp2(-weight / halfLife)
    return share > 0 ? sum / share : nil
  }
}

extension SegmentTiming {
  /// The throughput in bit/s, including the wait for the first byte, as most players compute it.
  var overallRate: Double { Double(bytes) * 8 / max(seconds, 0.001) }
}

extension Ladder {
  /// Returns the richest rendition whose rate is at most `rate`, or the cheapest if there is none.
  func richest(upTo rate: Double) -> Int { lastIndex { $0.bitRate <= rate } ?? 0 }
}
