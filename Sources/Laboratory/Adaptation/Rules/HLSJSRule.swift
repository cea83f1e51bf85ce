// SPDX-License-Identifier: Apache-2.0

import HLS

/// The default rule of hls.js 1.5 (`abr-controller`).
///
/// The estimate is the lower of two throughput averages with half-lives of 3 s and 9 s. It is 500
/// kbit/s before the first download.
struct HLSJSRule: AdaptationRule {
  private let ladder: Ladder
  private var fast = HalfLifeMean(halfLife: 3)
  private var slow = HalfLifeMean(halfLife: 9)
  private var current: Int?

  init(ladder: Ladder) { self.ladder = ladder }

  mutating func record(_ timing: SegmentTiming, rendition: Int) {
    let seconds = max(timing.seconds, 0.05)
    fast.add(Double(timing.bytes) * 8 / seconds, weight: seconds)
    slow.add(Double(timing.bytes) * 8 / seconds, weight: seconds)
  }

  private var estimate: Double {
    guard let fast = fast.value, let slow = slow.value else { return 500_000 }
    return min(fast, slow)
  }

  mutating func next(_ situation: PlaySituation) -> Int {
    for patience in [0.0, 4] {
      if let rendition = richest(within: situation.buffer + patience, situation) {
        current = rendition
        return rendition
      }
    }
    current = 0
    return 0
  }

  private func richest(within seconds: Double, _ situation: PlaySituation) -> Int? {
    ladder.indices.last { rendition in
      let isHigher = current.map { rendition > $0 } ?? true
      let usable = estimate * (isHigher ? 0.7 : 0.95)
      let needed = ladder[rendition].bitRate * situation.segmentSeconds / usable
      return ladder[rendition].bitRate < usable && (current == nil || needed < seconds)
    }
  }

  mutating func course(
    of download: DownloadProgress, rendition: Int, secondsLeft: Double?, _ situation: PlaySituation
  ) -> DownloadCourse {
    let elapsed = situation.now - download.requestTime
    guard rendition > 0, elapsed >= situation.segmentSeconds / 2 else { return .goOn }
    let rate = max(download.bytes * 8 / elapsed, 1)
    let remaining = download.remainingBytes * 8 / rate
    guard remaining > situation.buffer, situation.buffer < 2 * situation.segmentSeconds else {
      return .goOn
    }
    func needed(_ lower: Int) -> Double {
      ladder[lower].bitRate * situation.segmentSeconds / (0.8 * rate)
    }
    let lower = (0..<rendition).last { needed($0) < situation.buffer } ?? 0
    guard needed(lower) < remaining else { return .goOn }
    current = lower
    return .abandon(rendition: lower)
  }
}
