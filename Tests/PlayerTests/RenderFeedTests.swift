// SPDX-License-Identifier: Apache-2.0

import SignalProcessing
import TestSupport
import Testing

@testable import Playback
@testable import Rendering
@testable import SoundSources

/// The contract between audio thread and conductor: every frame taken from the source is played,
/// and silence is only reported for the newest request.
@Suite struct RenderFeedTests {
  private let ring = FrameRing(channelCount: 2, capacity: 48_000)
  private let feed: RenderFeed
  private let sound = PlanarSignal(channelCount: 2, frames: 24_000) { _, _ in 0.25 }
  private let output = PlanarSignal(channelCount: 1, frames: 9_600)

  init() {
    feed = RenderFeed(ring: ring, renderer: plainRenderer(), head: HeadToStageSource(.none))
  }

  /// Renders frames and returns the largest magnitude among them.
  @discardableResult
  private func render(_ frames: Int) -> Float {
    feed.render(output[0], frames: frames, time: 0)
    return (0..<2 * frames).reduce(0) { max($0, abs(output[0][$1])) }
  }

  @Test func slowStartLosesNoFrames() {
    ring.write(from: sound.channels, frames: 3_000)
    for _ in 0..<8 {
      #expect(render(480) == 0)
      #expect(feed.isStarved)
      #expect(feed.sourcePosition == 0)
    }
    ring.write(from: sound.channels, frames: 20_000)
    render(480)
    #expect(feed.sourcePosition == 480)
  }

  @Test func heldFeedTakesNoFramesAfterTheServerReturns() {
    ring.write(from: sound.channels, frames: 24_000)
    feed.hold(true)
    for _ in 0..<8 { render(480) }
    #expect(feed.isSilent)
    let position = feed.sourcePosition
    feed.beginFromSilence()
    for _ in 0..<4 { render(480) }
    #expect(feed.isSilent)
    #expect(feed.sourcePosition == position)
  }

  @Test func silenceIsReportedOnlyForTheNewestHold() {
    ring.write(from: sound.channels, frames: 24_000)
    feed.hold(true)
    for _ in 0..<8 { render(480) }
    #expect(feed.isSilent)
    feed.hold(false)
    feed.hold(true)
    // The audio thread may be inside a chunk that it began before.
    #expect(!feed.isSilent)
    render(480)
    #expect(feed.isSilent)
    feed.hold(true)
    #expect(feed.isSilent)
  }

  @Test func holdFadesOutAndReleaseFadesIn() {
    ring.write(from: sound.channels, frames: 24_000)
    for _ in 0..<8 { render(480) }
    #expect(abs(render(480) - 0.25) < 1e-4)
    feed.hold(true)
    var levels = (0..<8).map { _ in render(480) }
    #expect(zip(levels, levels.dropFirst()).allSatisfy { $0 >= $1 })
    #expect(levels.last == 0)
    feed.hold(false)
    levels = (0..<8).map { _ in render(480) }
    #expect(zip(levels, levels.dropFirst()).allSatisfy { $0 <= $1 + 1e-6 })
    #expect(abs(levels[7] - 0.25) < 1e-4)
  }

  @Test func endAfterASeekHasTheFullTail() {
    var tails: [Int] = []
    for _ in 0..<2 {
      feed.setEnded(false)
      ring.flush()
      ring.write(from: sound.channels, frames: 480)
      feed.setEnded(true)
      render(480)
      var tail = 0
      while !feed.isExhausted, tail < 4_800 {
        render(1)
        tail += 1
      }
      tails.append(tail)
    }
    #expect(tails[0] == feed.renderer.tailFrames + feed.renderer.latencyFrames)
    #expect(tails[1] == tails[0])
  }
}
