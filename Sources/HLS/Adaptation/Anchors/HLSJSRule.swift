// SPDX-License-Identifier: Apache-2.0

/// What hls.js does by default (1.5, `abr-controller`): the lower of two means of throughput with
/// half-lives of 3 and 9 s, of which 0.95 may be used to stay and 0.7 to go up; a segment has to come
/// before the buffer is empty, or else within 4 s more. A download that would come too late is
/// abandoned after half a segment's time.
public struct HLSJSRule: AdaptationRule {
  private let ladder: Ladder
  private var fast = HalfLifeMean(halfLife: 3)
  private var slow = HalfLifeMean(halfLife: 9)
  private var current: Int?

  public init(ladder: Ladder) { self.ladder = ladder }

  public mutating func record(_ timing: SegmentTiming, tier: Int) {
    let seconds = max(timing.seconds, 0.05)
    fast.add(Double(timing.bytes) * 8 / seconds, weight: seconds)
    slow.add(Double(timing.bytes) * 8 / seconds, weight: seconds)
  }

  private var estimate: Double {
    guard let fast = fast.value, let slow = slow.value else { return 500_000 }
    return min(fast, slow)
  }

  public mutating func next(_ situation: PlaySituation) -> Int {
    for patience in [0.0, 4] {
      if let tier = richest(within: situation.buffer + patience, situation) {
        current = tier
        return tier
      }
    }
    current = 0
    return 0
  }

  private func richest(within seconds: Double, _ situation: PlaySituation) -> Int? {
    ladder.tiers.indices.last { tier in
      let isHigher = current.map { tier > $0 } ?? true
      let usable = estimate * (isHigher ? 0.7 : 0.95)
      let needed = ladder.tiers[tier].bitRate * situation.segmentSeconds / usable
      return ladder.tiers[tier].bitRate < usable && (current == nil || needed < seconds)
    }
  }

  public mutating func course(
    of download: DownloadProgress, tier: Int, secondsLeft: Double?, _ situation: PlaySituation
  ) -> DownloadCourse {
    let elapsed = situation.now - download.requestTime
    guard tier > 0, elapsed >= situation.segmentSeconds / 2 else { return .goOn }
    let rate = max(download.bytes * 8 / elapsed, 1)
    let remaining = download.remainingBytes * 8 / rate
    guard remaining > situation.buffer, situation.buffer < 2 * situation.segmentSeconds else {
      return .goOn
    }
    func needed(_ lower: Int) -> Double {
      ladder.tiers[lower].bitRate * situation.segmentSeconds / (0.8 * rate)
    }
    let lower = (0..<tier).last { needed($0) < situation.buffer } ?? 0
    guard needed(lower) < remaining else { return .goOn }
    current = lower
    return .abandon(tier: lower)
  }
}
