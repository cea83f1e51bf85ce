// SPDX-License-Identifier: Apache-2.0

import Playback

extension BinauralFilters {
  /// Filters of an order that belong to no head: noise that dies away, another for each channel.
  static func madeUp(order: Int, taps: Int = 96) -> BinauralFilters {
    var generator = LinearCongruence()
    let ears = (0..<2).map { _ in
      (0..<(order + 1) * (order + 1)).map { _ in
        (0..<taps).map { Float.random(in: -0.3...0.3, using: &generator) / Float(1 + $0) }
      }
    }
    return BinauralFilters(order: order, sampleRate: 48000, left: ears[0], right: ears[1])
  }
}

/// The same numbers every time (Knuth, MMIX).
struct LinearCongruence: RandomNumberGenerator {
  private var state: UInt64 = 1

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state
  }
}
