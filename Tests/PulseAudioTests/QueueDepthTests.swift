// SPDX-License-Identifier: Apache-2.0

import SoundServer
import Testing

@testable import PulseAudio

@Suite struct QueueDepthTests {
  private static let second: Int64 = 1_000_000_000

  /// Checks the result of a mutating call, which `#expect` cannot contain.
  private func check(
    _ hasChanged: Bool, _ expected: Bool, location: SourceLocation = #_sourceLocation
  ) {
    #expect(hasChanged == expected, sourceLocation: location)
  }

  @Test func fixedDepthNeverChanges() {
    var depth = QueueDepth(fixed: 90, isRewritten: true)
    check(depth.ranLow(now: Self.second), false)
    check(depth.pass(now: 1000 * Self.second), false)
    check(depth.setRewritten(false, now: 0), false)
    #expect(depth.milliseconds == 90)
  }

  @Test func depthDoublesAtAnUnderrunUpToTheMaximum() {
    var depth = QueueDepth(fixed: nil, isRewritten: false)
    #expect(depth.milliseconds == 50)
    check(depth.ranLow(now: 0), true)
    #expect(depth.milliseconds == 100)
    // The same stall is reported again.
    check(depth.ranLow(now: Self.second / 10), false)
    check(depth.ranLow(now: Self.second), true)
    #expect(depth.milliseconds == 200)
    check(depth.ranLow(now: 2 * Self.second), false)
    #expect(depth.milliseconds == 200)
  }

  @Test func depthShrinksEachQuietMinuteDownToItsMinimum() {
    for isRewritten in [false, true] {
      var depth = QueueDepth(fixed: nil, isRewritten: isRewritten)
      for k in 0..<3 { _ = depth.ranLow(now: Int64(k) * Self.second) }
      #expect(depth.milliseconds == 200)
      check(depth.pass(now: 61 * Self.second), false)
      check(depth.pass(now: 62 * Self.second), true)
      #expect(depth.milliseconds == 160)
      check(depth.pass(now: 63 * Self.second), false)
      for k in 2..<40 { _ = depth.pass(now: Int64(k) * 62 * Self.second) }
      #expect(depth.milliseconds == (isRewritten ? 150 : 40))
    }
  }

  @Test func underrunAtTheMaximumStillPostponesShrinking() {
    var depth = QueueDepth(fixed: nil, isRewritten: true)
    check(depth.ranLow(now: 0), true)
    check(depth.ranLow(now: 50 * Self.second), false)
    check(depth.pass(now: 61 * Self.second), false)
    check(depth.pass(now: 110 * Self.second), true)
  }

  @Test func rewritingDeterminesTheInitialDepth() {
    var depth = QueueDepth(fixed: nil, isRewritten: true)
    #expect(depth.milliseconds == 150)
    check(depth.setRewritten(false, now: 0), true)
    #expect(depth.milliseconds == 50)
    check(depth.setRewritten(false, now: 0), false)
    check(depth.setRewritten(true, now: 0), true)
    #expect(depth.milliseconds == 150)
  }
}
