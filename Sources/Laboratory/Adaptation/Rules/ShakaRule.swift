// SPDX-License-Identifier: Apache-2.0

import HLS

/// Shaka Player's default rule (`SimpleAbrManager`).
///
/// The estimate is the lower of two throughput averages with half-lives of 2 s and 5 s. Downloads
/// below 16 kB do not count. Until the others total 128 kB, the estimate is 1 Mbit/s.
struct ShakaRule: AdaptationRule {
  private let ladder: Ladder
  private var fast = HalfLifeMean(halfLife: 2)
  private var slow = HalfLifeMean(halfLife: 5)
  private var bytes = 0
  private var current: Int?
  private var changeTime = -Double.infinity

  init(ladder: Ladder) { self.ladder = ladder }

  mutating func record(_ timing: SegmentTiming, rendition: Int) {
    guard timing.bytes >= 16_000 else { return }
    fast.add(timing.overallRate, weight: timing.seconds)
    slow.add(timing.overallRate, weight: timing.seconds)
    bytes += timing.bytes
  }

  mutating func next(_ situation: PlaySituation) -> Int {
    if let current, situation.now - changeTime < 8 { return current }
    let known =
      bytes >= 128_000 ? fast.value.flatMap { fast in slow.value.map { min(fast, $0) } } : nil
    let estimate = known ?? 1_000_000
    let rendition =
      ladder.indices.last { rendition in
        let above = rendition + 1 < ladder.count ? ladder[rendition + 1].bitRate : .infinity
        return ladder[rendition].bitRate / 0.95 <= estimate && estimate <= above / 0.85
      } ?? 0
    if rendition != current { changeTime = situation.now }
    current = rendition
    return rendition
  }
}
