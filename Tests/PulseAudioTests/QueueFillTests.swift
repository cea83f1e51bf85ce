// SPDX-License-Identifier: Apache-2.0

import SoundServer
import Testing

@testable import PulseAudio

@Suite struct QueueFillTests {
  static let millisecond: Int64 = 1_000_000

  @Test(arguments: [8_000, 48_000, 384_000])
  func fillDrainsAtTheRateAndGrowsByWrittenFrames(sampleRate: Int) {
    var fill = QueueFill(sampleRate: sampleRate)
    let frames = Int64(sampleRate / 10)
    fill.learn(queued: frames, written: 1_000_000, now: 7)
    #expect(fill.frames(written: 1_000_000, now: 7) == frames)
    #expect(fill.frames(written: 1_000_500, now: 7) == frames + 500)
    let later = fill.frames(written: 1_000_000, now: 7 + 40 * Self.millisecond)
    #expect(later == frames - Int64(sampleRate / 25))
    // A new answer replaces the estimate.
    fill.learn(queued: 3, written: 1_000_000, now: 8)
    #expect(fill.frames(written: 1_000_000, now: 8) == 3)
  }

  /// A server that has stopped no longer answers. Without a time limit it would be fed forever.
  @Test func fillIsUnknownWhenTheAnswerIsOutdated() {
    var fill = QueueFill(sampleRate: 48_000)
    #expect(fill.frames(written: 0, now: 0) == nil)
    fill.learn(queued: 100, written: 100, now: 0)
    #expect(fill.frames(written: 100, now: 149 * Self.millisecond) != nil)
    #expect(fill.frames(written: 100, now: 150 * Self.millisecond) == nil)
    fill.learn(queued: 100, written: 100, now: 0)
    fill.forget()
    #expect(fill.frames(written: 100, now: 0) == nil)
  }
}
