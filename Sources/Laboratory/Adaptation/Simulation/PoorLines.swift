// SPDX-License-Identifier: Apache-2.0

import Glibc
import HLS

/// Generates traces of poor lines. Each trace has one rate per second, in whole kbit/s, and repeats
/// after 120 to 190 s.
extension BandwidthTrace {
  /// The 25 traces of "Poor lines" in docs/adaptation.md: five fixed ones, and 20 that are
  /// generated from the seeds 101 to 107.
  package static var poorLines: [BandwidthTrace] {
    let seeds: ClosedRange<UInt32> = 101...107
    return fixedPoorLines + seeds.map { metro3g(seed: $0) } + seeds.map { busLTE(seed: $0) }
      + seeds.dropLast().map { twoStates(seed: $0) }
  }

  /// The traces whose names contain no seed.
  package static var fixedPoorLines: [BandwidthTrace] {
    [step(), metro3g(), busLTE(), flap(), slowRamp()]
  }

  private static let passSeconds = 180

  private init(_ name: String, _ rates: [Double]) {
    self.init(
      name: name, kilobitsPerSecond: rates.map { max(0, $0.rounded(.toNearestOrEven)) })
  }

  private static func named(_ name: String, _ seed: UInt32?) -> String {
    seed.map { "\(name)-\($0)" } ?? name
  }

  /// A fast line that drops to 110 kbit/s for 40 s.
  static func step() -> BandwidthTrace {
    BandwidthTrace("step", (0..<120).map { (20..<60).contains($0) ? 110 : 800 })
  }

  /// A line whose rate wanders about 420 kbit/s (log-normal, correlated) and is 12 kbit/s in two
  /// tunnels.
  static func metro3g(seed: UInt32? = nil) -> BandwidthTrace {
    var chance = MersenneTwister(seed ?? 1)
    var level = 0.0
    return BandwidthTrace(
      named("metro3g", seed),
      (0..<passSeconds).map { second in
        level = 0.92 * level + 0.28 * chance.gaussian()
        let isTunnel = (60..<72).contains(second) || (130..<136).contains(second)
        return isTunnel ? 12 : min(420 * exp(level), 3000)
      })
  }

  /// A line with fades of 2 to 8 s at 20 to 120 kbit/s. Between the fades, its median rate is 1400
  /// kbit/s.
  static func busLTE(seed: UInt32? = nil) -> BandwidthTrace {
    var chance = MersenneTwister(seed ?? 2)
    var left = 0
    return BandwidthTrace(
      named("bus_lte", seed),
      (0..<passSeconds).map { _ in
        if left == 0, chance.uniform() < 0.05 { left = chance.integer(2...8) }
        let rate = exp(log(1400) + 0.6 * chance.normal())
        guard left > 0 else { return rate }
        left -= 1
        return chance.uniform(20...120)
      })
  }

  /// A line whose rate is alternately about 420 and about 130 kbit/s, for 7 s each.
  static func flap() -> BandwidthTrace {
    var chance = MersenneTwister(3)
    return BandwidthTrace(
      "flap",
      (0..<passSeconds).map { second in
        (second / 7 % 2 == 0 ? 420 : 130) * chance.uniform(0.9...1.1)
      })
  }

  /// A line whose rate rises from about 90 to 410 kbit/s in 100 s and falls to about 100 kbit/s in
  /// 90 s, with random fluctuations.
  static func slowRamp() -> BandwidthTrace {
    var chance = MersenneTwister(4)
    return BandwidthTrace(
      "slowramp",
      (0..<190).map { second in
        let rate = second < 100 ? 90 + Double(second) * 3.2 : 410 - Double(second - 100) * 3.5
        return rate * exp(0.15 * chance.normal())
      })
  }

  /// A line that switches between 420 and 130 kbit/s (within 5 %) every 2 to 20 s.
  static func twoStates(seed: UInt32) -> BandwidthTrace {
    var chance = MersenneTwister(seed)
    var rates: [Double] = []
    var isHigh = true
    while rates.count < passSeconds {
      let count = min(chance.integer(2...20), passSeconds - rates.count)
      for _ in 0..<count { rates.append((isHigh ? 420 : 130) * chance.uniform(0.95...1.05)) }
      isHigh.toggle()
    }
    return BandwidthTrace(named("two_states", seed), rates)
  }
}
