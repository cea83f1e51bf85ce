// SPDX-License-Identifier: Apache-2.0

import Glibc
import HLS

/// BOLA with the parameters of dash.js [K. Spiteri, R. Urgaonkar, R. Sitaraman, "BOLA: Near-optimal
/// bitrate adaptation for online videos", IEEE/ACM Trans. Networking 28(4), 2020].
///
/// The buffer alone decides. The placeholder buffer and the throughput rule of dash.js are left
/// out.
struct BOLARule: AdaptationRule {
  private let ladder: Ladder
  private let utilities: [Double]
  private let gain: Double
  private let scale: Double

  init(ladder: Ladder) {
    self.ladder = ladder
    let lowest = ladder.first?.bitRate ?? 1
    utilities = ladder.map { log($0.bitRate / lowest) }
    let smallest = 10.0
    let wanted = max(12, smallest + 2 * Double(ladder.count))
    let top = utilities.last ?? 0
    gain = top > 0 ? top / (wanted / smallest - 1) : 1
    scale = smallest / gain
  }

  mutating func record(_ timing: SegmentTiming, rendition: Int) {}

  mutating func next(_ situation: PlaySituation) -> Int {
    func score(_ rendition: Int) -> Double {
      (scale * (utilities[rendition] + gain) - situation.buffer) / ladder[rendition].bitRate
    }
    return ladder.indices.max { score($0) < score($1) } ?? 0
  }
}
