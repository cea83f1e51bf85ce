// SPDX-License-Identifier: Apache-2.0

import Glibc
import HLS

/// An exponentially weighted mean. A value's weight halves when later values with a total weight of
/// `halfLife` have been added.
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

  /// The mean, corrected for the initial value 0; nil if the total weight is 0.
  var value: Double? {
    let share = 1 - exp2(-weight / halfLife)
    return share > 0 ? sum / share : nil
  }
}

extension SegmentTiming {
  /// The throughput from the request to the end of the download, in bit/s.
  var overallRate: Double { Double(bytes) * 8 / max(seconds, 0.001) }
}

extension Ladder {
  /// Returns the index of the last rendition whose bit rate is at most `rate`, in bit/s; 0 if no
  /// rendition is that cheap.
  func richest(upTo rate: Double) -> Int { lastIndex { $0.bitRate <= rate } ?? 0 }
}
