// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HLS
@testable import Laboratory

@Suite struct LadderTests {
  private func rendition(_ kilobits: Double, _ isMultichannel: Bool, score: Double? = nil)
    -> Rendition
  {
    Rendition(
      uri: "\(kilobits)", bitRate: kilobits * 1000, isMultichannel: isMultichannel, score: score)
  }

  private func uris(_ ladder: Ladder) -> [String] { ladder.map(\.uri) }

  @Test func stereoPrecedesMultichannelAndBitRatesAscend() {
    let ladder = Ladder([
      rendition(330, true), rendition(133, false), rendition(200, true), rendition(53, false),
    ])
    #expect(uris(ladder) == ["53.0", "133.0", "200.0", "330.0"])
    #expect(ladder.firstMultichannel == 2)
  }

  @Test func stereoAtOrAboveMultichannelBitRateIsDropped() {
    let renditions = [
      rendition(64, false), rendition(200, false), rendition(256, false), rendition(200, true),
    ]
    #expect(uris(Ladder(renditions)) == ["64.0", "200.0"])
    #expect(Ladder(renditions)[1].isMultichannel)
    #expect(uris(Ladder(renditions, prefer: .stereo)) == ["64.0", "200.0", "256.0"])
  }

  @Test func higherBitRateNeedsAHigherScore() {
    let scored = [
      rendition(50, false, score: 2), rendition(90, false, score: 1),
      rendition(120, false, score: 3),
    ]
    #expect(uris(Ladder(scored)) == ["50.0", "120.0"])
    // Scores are ignored unless all renditions have one (RFC 8216bis).
    #expect(uris(Ladder(scored + [rendition(60, false)])) == ["50.0", "60.0", "90.0", "120.0"])
  }

  @Test func noRenditionExceedsTheMaximumBitRate() {
    for maximum in stride(from: 20_000.0, through: 400_000, by: 9000) {
      for preference in TreatmentPreference.allCases {
        let ladder = Ladder(Ladder.bench, maximumBitRate: maximum, prefer: preference)
        #expect(ladder.allSatisfy { $0.bitRate <= maximum })
        #expect(ladder.isEmpty == (maximum < 53_000))
      }
    }
  }

  @Test func stereoPreferenceAppliesOnlyIfStereoIsAvailable() {
    #expect(uris(Ladder(Ladder.bench, prefer: .stereo)) == ["53.0", "133.0"])
    #expect(uris(Ladder([rendition(200, true)], prefer: .stereo)) == ["200.0"])
    let stereoAboveMaximum = [rendition(96, false), rendition(64, true)]
    #expect(uris(Ladder(stereoAboveMaximum, maximumBitRate: 70_000, prefer: .stereo)) == ["64.0"])
  }

  @Test(arguments: [0, -1, .nan, .infinity] as [Double])
  func invalidBitRatesAreLeftOut(rate: Double) {
    let invalid = Rendition(uri: "invalid", bitRate: rate, isMultichannel: true)
    #expect(Ladder([invalid, rendition(64, false)]).map(\.uri) == ["64.0"])
    #expect(Ladder([invalid]).isEmpty)
  }
}
