// SPDX-License-Identifier: Apache-2.0

import Playback
import TestSupport

extension BinauralFilters {
  /// Returns filters of no real head: decaying noise, different for each channel.
  static func madeUp(order: Int, taps: Int = 96) -> BinauralFilters {
    var generator = SeededGenerator(1)
    let ears = (0..<2).map { _ in
      (0..<(order + 1) * (order + 1)).map { _ in
        (0..<taps).map { Float.random(in: -0.3...0.3, using: &generator) / Float(1 + $0) }
      }
    }
    return BinauralFilters(order: order, sampleRate: 48000, left: ears[0], right: ears[1])
  }
}
