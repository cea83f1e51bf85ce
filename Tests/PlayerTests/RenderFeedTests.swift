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

  /// The new sound is written while the old one plays; the silence between them is short.
  @Test(arguments: [64, 480, 2048]) func jumpFadesFromOldSoundToNew(block: Int) {
    ring.write(from: sound.channels, frames: 24_000)
    for _ in 0..<4 { render(1200) }
    let position = feed.sourcePosition
    feed.prepareJump()
    ring.write(from: sound.channels, frames: 20_000)
    render(1200)
    #expect(feed.sourcePosition == position + 1200)
    #expect(abs(output[0][2000] - 0.25) < 1e-4)
    feed.jump(toSourceFrame: 1_000_000)
    var ears: [Float] = []
    while ears.count < 4096 {
      render(block)
      ears += (0..<block).map { output[0][2 * $0] }
    }
    #expect(!feed.isJumping)
    #expect((1_000_000..<1_005_000).contains(feed.sourcePosition))
    // 10 ms down, at most one chunk of silence, 20 ms up, and the latency of the limiter.
    let quiet = ears.indices.filter { abs(ears[$0]) < 0.25e-3 }
    #expect(!quiet.isEmpty)
    #expect(quiet.count < 200)
    #expect((quiet.last ?? 0) - (quiet.first ?? 0) < 200)
    #expect(ears.indices.filter { abs(ears[$0] - 0.25) > 1e-3 }.count < 1700)
    #expect(zip(ears, ears.dropFirst()).allSatisfy { abs($0 - $1) < 0.25 * 4 / 480 })
  }

  /// If the new sound is late, the old sound fades out before its end.
  @Test func jumpToLateSoundDoesNotCutTheOldOne() {
    ring.write(from: sound.channels, frames: 24_000)
    for _ in 0..<4 { render(4800) }
    feed.setEnded(true)
    feed.prepareJump()
    var ears: [Float] = []
    for _ in 0..<30 {
      render(480)
      ears += (0..<480).map { output[0][2 * $0] }
    }
    #expect(ears.last == 0)
    #expect(zip(ears, ears.dropFirst()).allSatisfy { abs($0 - $1) < 0.25 * 4 / 480 })
    #expect(feed.isJumping)
    ring.write(from: sound.channels, frames: 20_000)
    feed.setEnded(false)
    feed.jump(toSourceFrame: 7)
    for _ in 0..<8 { render(480) }
    #expect(abs(render(480) - 0.25) < 1e-4)
    #expect(!feed.isJumping)
  }

  @Test func jumpDuringAHoldIsCarriedOutInSilence() {
    ring.write(from: sound.channels, frames: 24_000)
    for _ in 0..<4 { render(1200) }
    feed.prepareJump()
    ring.write(from: sound.channels, frames: 20_000)
    feed.hold(true)
    for _ in 0..<8 { render(480) }
    #expect(feed.isSilent)
    feed.jump(toSourceFrame: 500)
    #expect(render(480) == 0)
    #expect(!feed.isJumping)
    #expect(feed.sourcePosition == 500)
    #expect(ring.fill == 20_000)
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
