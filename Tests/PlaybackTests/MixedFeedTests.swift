// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import Glibc
import SignalProcessing
import TestSupport
import Testing

@testable import AudioMix
@testable import Rendering

/// A change of the mix while a player renders.
@Suite struct MixedFeedTests {
  @Test func changeIsHeardInTheNextBlockAndFades() {
    let planes = 4 + StemPlanes.count
    let ring = FrameRing(channelCount: planes, capacity: 96_000)
    let ear = [[Float]](repeating: [1] + [Float](repeating: 0, count: 63), count: 4)
    let layout = ChannelLayout.ambisonics(order: 1, convention: .ambiX, headLocked: false)
    let renderer = Renderer(
      layout: layout,
      filters: BinauralFilters(order: 1, sampleRate: 48_000, left: ear, right: ear), busOrder: 1,
      mode: .plain, finish: .safe)
    let mixer = StemMixer(
      channels: 4, sampleRate: 48_000, settings: MixSettings(style: .standard, amount: 1))
    let feed = RenderFeed(
      ring: ring, renderer: renderer, head: HeadToStageSource(.none), mixer: mixer)
    // Only W of the soundfield sounds, and nobody speaks.
    let sound = PlanarSignal(channelCount: planes, frames: 90_000) { c, _ in c == 0 ? 0.25 : 0 }
    ring.write(from: sound.channels, frames: 90_000)
    let output = PlanarSignal(channelCount: 1, frames: 9_600)
    func render(_ frames: Int) -> [Float] {
      feed.render(output[0], frames: frames, time: 0)
      return (0..<frames).map { output[0][2 * $0] }
    }
    for _ in 0..<10 { _ = render(4_800) }
    let before = render(480)
    #expect(before.allSatisfy { $0 == before[0] && $0 > 0.05 })
    mixer.value = (.cinematicForeground, 1)
    let fade = render(4_800)
    let steps = zip(fade, fade.dropFirst()).map { abs($1 - $0) }
    #expect(steps.max()! < before[0] / 2_400 * 1.1)
    // 50 ms, and the delay of the renderer.
    let end = 2_400 + renderer.latencyFrames
    #expect(fade[end / 2] < before[0] * 0.9)
    #expect(fade[(end + 240)...].allSatisfy { abs($0) < 1e-5 })
  }

  /// Compares playback with and without a pause, frame by frame of the source.
  @Test func pauseChangesNothingAfterIt() throws {
    let steady = render(pausedAt: nil)
    let paused = render(pausedAt: 40)
    // The fade in after the pause takes 50 ms, and the filters of the tuning settle.
    let start = try #require(paused.resumedAt) + 9_600
    var (error, energy) = (0.0, 0.0)
    var compared = 0
    for (position, value) in paused.samples where position >= start {
      guard let truth = steady.samples[position] else { continue }
      error += Double(value - truth) * Double(value - truth)
      energy += Double(truth) * Double(truth)
      compared += 1
    }
    #expect(compared > 20_000)
    #expect(10 * log10(max(error / energy, 1e-30)) < -100)
  }

  /// Renders 150 blocks of a mix with a tuning. Returns the left channel by source frame, and the
  /// source frame at which playback resumed.
  private func render(
    pausedAt pause: Int?
  ) -> (samples: [Int: Float], resumedAt: Int?) {
    let planes = 4 + StemPlanes.count
    let ring = FrameRing(channelCount: planes, capacity: 96_000)
    let ear = [[Float]](repeating: [1] + [Float](repeating: 0, count: 63), count: 4)
    let renderer = Renderer(
      layout: .ambisonics(order: 1, convention: .ambiX, headLocked: false),
      filters: BinauralFilters(order: 1, sampleRate: 48_000, left: ear, right: ear), busOrder: 1,
      mode: .spatial, finish: .safe)
    let filters = [ParametricFilter(.highPass, frequency: 80, quality: 0.7)]
    let mixer = StemMixer(
      channels: 4, sampleRate: 48_000,
      settings: MixSettings(
        style: .cinematic, amount: 0.7,
        tuning: MixTuning(speech: .init(gainDecibels: 2, equaliser: filters), ambience: .init())))
    let feed = RenderFeed(
      ring: ring, renderer: renderer, head: HeadToStageSource(.none), mixer: mixer)
    let sound = PlanarSignal(channelCount: planes, frames: 90_000) { channel, frame in
      Float((frame * (2 * channel + 7)) % 1_009) / 4_036 - 0.125
    }
    ring.write(from: sound.channels, frames: 90_000)
    let output = PlanarSignal(channelCount: 1, frames: 960)
    var samples: [Int: Float] = [:]
    var resumedAt: Int?
    for block in 0..<150 {
      if let pause, block == pause { feed.hold(true) }
      if let pause, block == pause + 20 {
        feed.hold(false)
        resumedAt = feed.sourcePosition
      }
      let position = feed.sourcePosition
      feed.render(output[0], frames: 480, time: 0)
      for frame in 0..<480 { samples[position + frame] = output[0][2 * frame] }
    }
    return (samples, resumedAt)
  }
}
