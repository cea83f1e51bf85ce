// SPDX-License-Identifier: Apache-2.0

import ScreenView
import Testing

@testable import CommandSupport

@Suite struct FittedLineTests {
  private let line = FittedLine([
    LinePart("0:12 / 3:40", rank: 0), LinePart("", rank: 1), LinePart("yaw 12", rank: 2),
    LinePart("100 Hz", rank: 3), LinePart("171 ms", rank: 5), LinePart("L -14 dB", rank: 4),
  ])

  @Test func aWideTerminalShowsAllParts() {
    let all = "0:12 / 3:40  yaw 12  100 Hz  171 ms  L -14 dB"
    #expect(line.full == all)
    #expect(line.fitted(to: all.count) == all)
  }

  @Test(arguments: [
    (44, "0:12 / 3:40  yaw 12  100 Hz  L -14 dB"), (36, "0:12 / 3:40  yaw 12  100 Hz"),
    (26, "0:12 / 3:40  yaw 12"), (18, "0:12 / 3:40"), (11, "0:12 / 3:40"), (10, "0:12 / 3:4"),
    (0, ""),
  ])
  func theLeastImportantPartsAreLeftOutFirst(width: Int, text: String) {
    #expect(line.fitted(to: width) == text)
  }

  @Test func aLineNeverExceedsTheWidth() {
    for width in 0...60 { #expect(TextWidth.of(line.fitted(to: width)) <= width) }
  }

  @Test func wideAndCombiningCharactersCount() {
    #expect(TextWidth.of("Kopfhörer") == 9)
    #expect(TextWidth.of("e\u{301}") == 1)
    #expect(TextWidth.of("ヘッドホン") == 10)
    #expect(TextWidth.prefix("ヘッドホン", 5) == "ヘッ")
    #expect(FittedLine([LinePart("ヘッドホン", rank: 0)]).fitted(to: 9) == "ヘッドホ")
  }
}

@Suite struct PlainStatusTests {
  @Test func aLineIsDueEveryTenSeconds() {
    var status = PlainStatus(now: 0)
    let times = stride(from: Int64(0), through: 45_000, by: 50).filter {
      status.isDue(now: $0 * 1_000_000)
    }
    #expect(times == [10_000, 20_000, 30_000, 40_000])
  }
}
