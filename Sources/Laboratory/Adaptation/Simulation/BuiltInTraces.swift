// SPDX-License-Identifier: Apache-2.0

import Glibc
import HLS
import System

extension BandwidthTrace {
  /// Half-hour traces of five kinds of mobile connections, identical in every run.
  package static let builtIn = [fades(), tunnels(), drop(), alternating(), ramp()]

  static let builtInSeconds = 1800

  /// A fast line with fades: for 2 to 8 s at a time, its rate is only 20 to 120 kbit/s.
  static func fades(seed: UInt64 = 1) -> BandwidthTrace {
    var chance = SeededGenerator(seed)
    var left = 0
    return BandwidthTrace(
      name: "fades",
      kilobitsPerSecond: (0..<builtInSeconds).map { _ in
        if left == 0, chance.uniform() < 0.05 { left = 2 + Int(chance.uniform() * 7) }
        let rate = 1400 * exp(0.6 * chance.gaussian())
        guard left > 0 else { return rate }
        left -= 1
        return 20 + 100 * chance.uniform()
      })
  }

  /// A slow line whose rate wanders. In every three minutes there are two tunnels, of 12 s and 6 s,
  /// with a rate of 12 kbit/s.
  static func tunnels(seed: UInt64 = 2) -> BandwidthTrace {
    var chance = SeededGenerator(seed)
    var level = 0.0
    return BandwidthTrace(
      name: "tunnels",
      kilobitsPerSecond: (0..<builtInSeconds).map { second in
        level = 0.92 * level + 0.28 * chance.gaussian()
        let place = second % 180
        if (60..<72).contains(place) || (130..<136).contains(place) { return 12 }
        return min(450 * exp(level), 3000)
      })
  }

  /// A fast line that regularly drops to a rate that carries only stereo.
  static func drop() -> BandwidthTrace {
    BandwidthTrace(
      name: "drop",
      kilobitsPerSecond: (0..<builtInSeconds).map { (40..<85).contains($0 % 150) ? 110 : 800 })
  }

  /// A line whose rate is alternately above and below the bit rates of all multichannel renditions
  /// of `Ladder.bench`.
  static func alternating(seed: UInt64 = 4) -> BandwidthTrace {
    var chance = SeededGenerator(seed)
    return BandwidthTrace(
      name: "alternating",
      kilobitsPerSecond: (0..<builtInSeconds).map { second in
        (second / 7 % 2 == 0 ? 420 : 130) * (0.9 + 0.2 * chance.uniform())
      })
  }

  /// A line whose rate slowly rises and falls, with fluctuations.
  static func ramp(seed: UInt64 = 5) -> BandwidthTrace {
    var chance = SeededGenerator(seed)
    return BandwidthTrace(
      name: "ramp",
      kilobitsPerSecond: (0..<builtInSeconds).map { second in
        let place = Double(second % 200)
        return (90 + 3.3 * min(place, 200 - place)) * exp(0.15 * chance.gaussian())
      })
  }
}
