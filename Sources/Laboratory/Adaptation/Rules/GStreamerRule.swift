// SPDX-License-Identifier: Apache-2.0

import HLS

/// The default rule of GStreamer's adaptive demuxer.
///
/// The rule allows 0.8 times the lower of two rates: the last throughput, and the mean of the last
/// three throughputs.
struct GStreamerRule: AdaptationRule {
  private let ladder: Ladder
  private var rates: [Double] = []

  init(ladder: Ladder) { self.ladder = ladder }

  mutating func record(_ timing: SegmentTiming, rendition: Int) {
    rates = rates.suffix(2) + [timing.overallRate]
  }

  mutating func next(_ situation: PlaySituation) -> Int {
    guard let newest = rates.last else { return 0 }
    let mean = rates.reduce(0, +) / Double(rates.count)
    return ladder.richest(upTo: 0.8 * min(mean, newest))
  }
}
