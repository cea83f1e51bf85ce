// SPDX-License-Identifier: Apache-2.0

/// What Shaka Player does by default (`SimpleAbrManager`): the lower of two means of throughput with
/// half-lives of 2 and 5 s over downloads of at least 16 kB, known after 128 kB; a tier may play while
/// the throughput lies between its own rate over 0.95 and the next one's over 0.85, the richest where
/// several may; 8 s between changes. A running download is not ended.
public struct ShakaRule: AdaptationRule {
  private let ladder: Ladder
  private var fast = HalfLifeMean(halfLife: 2)
  private var slow = HalfLifeMean(halfLife: 5)
  private var bytes = 0
  private var current: Int?
  private var changeTime = -Double.infinity

  public init(ladder: Ladder) { self.ladder = ladder }

  public mutating func record(_ timing: SegmentTiming, tier: Int) {
    guard timing.bytes >= 16_000 else { return }
    fast.add(timing.overallRate, weight: timing.seconds)
    slow.add(timing.overallRate, weight: timing.seconds)
    bytes += timing.bytes
  }

  public mutating func next(_ situation: PlaySituation) -> Int {
    if let current, situation.now - changeTime < 8 { return current }
    let known =
      bytes >= 128_000 ? fast.value.flatMap { fast in slow.value.map { min(fast, $0) } } : nil
    let estimate = known ?? 1_000_000
    let tier =
      ladder.tiers.indices.last { tier in
        let above = tier + 1 < ladder.tiers.count ? ladder.tiers[tier + 1].bitRate : .infinity
        return ladder.tiers[tier].bitRate / 0.95 <= estimate && estimate <= above / 0.85
      } ?? 0
    if tier != current { changeTime = situation.now }
    current = tier
    return tier
  }
}
