// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ScreenView

@Suite struct LevelTests {
  @Test func aPeakStaysAndThenFalls() {
    var hold = HeldLevel()
    hold.add(-6, seconds: 0.05)
    for _ in 0..<29 { hold.add(-60, seconds: 0.05) }
    #expect(hold.level == -6)
    for _ in 0..<20 { hold.add(-60, seconds: 0.05) }
    #expect(abs(hold.level - (-6 - HeldLevel.fall * 0.95)) < 1)
    for _ in 0..<200 { hold.add(-60, seconds: 0.05) }
    #expect(hold.level == -60)
  }

  @Test func theHeldPeakDoesNotDependOnTheFrameRate() {
    var (slow, fast) = (HeldLevel(), HeldLevel())
    slow.add(-3, seconds: 0)
    fast.add(-3, seconds: 0)
    for _ in 0..<20 { slow.add(-90, seconds: 0.1) }
    for _ in 0..<200 { fast.add(-90, seconds: 0.01) }
    #expect(abs(slow.level - fast.level) < 0.01)
  }

  @Test func aBarRisesAtOnceAndFallsSlowly() {
    var bar = FallingLevel()
    bar.add(-10, seconds: 0.05)
    #expect(bar.level == -10)
    bar.add(-50, seconds: 0.1)
    #expect(abs(bar.level + 14) < 1e-9)
  }

  @Test func adviceNeedsAHeadThatKeepsStillAwayFromTheFront() {
    var advice = RecentreAdvice()
    func last(_ yaws: [Double?], seconds: Double = 0.1) -> String? {
      var text: String?
      for yaw in yaws { text = advice.add(yaw: yaw, seconds: seconds) }
      return text
    }
    #expect(last(Array(repeating: 8, count: 100)) == nil)
    #expect(last(Array(repeating: 30, count: 30)) == nil)
    #expect(last(Array(repeating: 30, count: 30))?.contains("30 degrees left") == true)
    // A movement, the loss of the tracker or the front ends it.
    #expect(last([50]) == nil)
    #expect(last(Array(repeating: -40, count: 50))?.contains("40 degrees right") == true)
    #expect(last([nil]) == nil)
    // A head that turns all the time is not still.
    #expect(last((0..<100).map { 20 + Double($0) }) == nil)
  }

  @Test func wideCharactersTakeTwoCells() {
    var canvas = Canvas(columns: 5, rows: 1)
    canvas.put("ヘッド", row: 0, column: 0)
    #expect(canvas.text == ["ヘッ"])
    #expect(canvas.runs(0).map(\.text) == ["ヘッ "])
    canvas.put("a", row: 0, column: 7)
    canvas.put("xyz", row: 0, column: -1)
    #expect(canvas[0, 0].scalar == "y")
  }

  @Test func aRowIsDividedWhereTheStyleChanges() {
    var canvas = Canvas(columns: 6, rows: 1)
    canvas.put("ab", row: 0, column: 1, style: .strong)
    #expect(
      canvas.runs(0) == [
        Canvas.Run(column: 0, style: .plain, text: " "),
        Canvas.Run(column: 1, style: .strong, text: "ab"),
        Canvas.Run(column: 3, style: .plain, text: "   "),
      ])
  }
}
