// SPDX-License-Identifier: Apache-2.0

import HLS

/// ExoPlayer's default rule (`AdaptiveTrackSelection`, `DefaultBandwidthMeter`).
///
/// The estimate is the median throughput of recent downloads, each weighted by the square root of
/// its size.
struct ExoPlayerRule: AdaptationRule {
  private let ladder: Ladder
  private var samples: [(weight: Double, rate: Double)] = []
  private var current: Int?

  init(ladder: Ladder) { self.ladder = ladder }

  mutating func record(_ timing: SegmentTiming, rendition: Int) {
    guard timing.bytes > 0, timing.seconds > 0 else { return }
    samples.append((Double(timing.bytes).squareRoot(), timing.overallRate))
    var surplus = samples.reduce(0) { $0 + $1.weight } - 2000
    while surplus > 0, let oldest = samples.first {
      if oldest.weight <= surplus { samples.removeFirst() } else { samples[0].weight -= surplus }
      surplus -= oldest.weight
    }
  }

  /// The estimated throughput, in bit/s; 1 Mbit/s without samples.
  private var estimate: Double {
    let half = samples.reduce(0) { $0 + $1.weight } / 2
    var sum = 0.0
    for sample in samples.sorted(by: { $0.rate < $1.rate }) {
      sum += sample.weight
      if sum >= half { return sample.rate }
    }
    return 1_000_000
  }

  mutating func next(_ situation: PlaySituation) -> Int {
    var rendition = ladder.richest(upTo: 0.7 * estimate)
    if let current {
      let needed = situation.liveDistance.map { min(10, 0.75 * $0) } ?? 10
      if rendition > current, situation.buffer < needed { rendition = current }
      if rendition < current, situation.buffer >= 25 { rendition = current }
    }
    current = rendition
    return rendition
  }
}
