// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HLS

@Suite struct LadderTests {
  private func tier(_ kilobits: Double, _ isMultichannel: Bool, score: Double? = nil) -> Tier {
    Tier(
      uri: "\(kilobits)", bitRate: kilobits * 1000, isMultichannel: isMultichannel, score: score)
  }

  private func uris(_ ladder: Ladder) -> [String] { ladder.tiers.map(\.uri) }

  @Test func tiersAreStereoThenMultichannelEachFromTheCheapest() {
    let ladder = Ladder([tier(330, true), tier(133, false), tier(200, true), tier(53, false)])
    #expect(uris(ladder) == ["53.0", "133.0", "200.0", "330.0"])
    #expect(ladder.firstMultichannel == 2)
  }

  @Test func stereoThatCostsAsMuchAsMultichannelIsLeftOut() {
    let tiers = [tier(64, false), tier(200, false), tier(256, false), tier(200, true)]
    #expect(uris(Ladder(tiers)) == ["64.0", "200.0"])
    #expect(Ladder(tiers).tiers[1].isMultichannel)
    #expect(uris(Ladder(tiers, prefer: .stereo)) == ["64.0", "200.0", "256.0"])
  }

  @Test func aDearerTierNeedsABetterScore() {
    let scored = [tier(50, false, score: 2), tier(90, false, score: 1), tier(120, false, score: 3)]
    #expect(uris(Ladder(scored)) == ["50.0", "120.0"])
    // One without a score makes the scores of all meaningless (RFC 8216bis).
    #expect(uris(Ladder(scored + [tier(60, false)])) == ["50.0", "60.0", "90.0", "120.0"])
  }

  @Test func nothingIsAboveTheMaximum() {
    for maximum in stride(from: 20_000.0, through: 400_000, by: 9000) {
      for preference in TreatmentPreference.allCases {
        let ladder = Ladder(Ladder.bench.tiers, maximumBitRate: maximum, prefer: preference)
        #expect(ladder.tiers.allSatisfy { $0.bitRate <= maximum })
        #expect(ladder.tiers.isEmpty == (maximum < 53_000))
      }
    }
  }

  @Test func stereoIsPreferredOnlyWhereItIs() {
    #expect(uris(Ladder(Ladder.bench.tiers, prefer: .stereo)) == ["53.0", "133.0"])
    #expect(uris(Ladder([tier(200, true)], prefer: .stereo)) == ["200.0"])
    let dear = [tier(96, false), tier(64, true)]
    #expect(uris(Ladder(dear, maximumBitRate: 70_000, prefer: .stereo)) == ["64.0"])
  }

  @Test(arguments: [0, -1, .nan, .infinity] as [Double])
  func impossibleBitRatesAreLeftOut(rate: Double) {
    let odd = Tier(uri: "odd", bitRate: rate, isMultichannel: true)
    #expect(Ladder([odd, tier(64, false)]).tiers.map(\.uri) == ["64.0"])
    #expect(Ladder([odd]).tiers.isEmpty)
  }
}
