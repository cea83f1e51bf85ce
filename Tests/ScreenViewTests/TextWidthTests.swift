// SPDX-License-Identifier: Apache-2.0

import ScreenView
import Testing

@Suite struct TextWidthTests {
  @Test(arguments: [
    (20, 0, ["head:  waiting for a", "head tracker; see", "trackers"]),
    (
      18, 7,
      ["head:  waiting for", "       a head", "       tracker;", "       see", "       trackers"]
    ),
    (47, 0, ["head:  waiting for a head tracker; see trackers"]),
    (7, 4, ["head: ", "waiting", "for a", "head", "tracker;", "see", "trackers"]),
  ])
  func longLinesAreDividedAtSpaces(width: Int, indent: Int, lines: [String]) {
    let text = "head:  waiting for a head tracker; see trackers"
    #expect(TextWidth.wrapped(text, width, indent: indent) == lines)
  }

  @Test func wideCharactersCount() {
    #expect(TextWidth.wrapped("ヘッド ホン", 8) == ["ヘッド", "ホン"])
    #expect(TextWidth.wrapped("", 8) == [""])
    #expect(TextWidth.wrapped("a b", 0) == ["a", "b"])
  }
}
