// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import Playback
import TestSupport
import Testing

@Suite struct RendererFaultTests {
  static let layouts = [ambiX(1, headLocked: true), .speakers(surround51)]
  static let bad: [Float] = [.nan, .infinity, -.infinity, 1e30, -1e30]

  @Test(arguments: layouts, bad)
  func invalidSamplesAreMutedAndCounted(layout: ChannelLayout, value: Float) {
    let filters = noiseFilters(order: 1)
    let clean = noise(channels: 6, frames: 5000)
    let broken = clean.copy
    for frame in [1500, 1501, 1530] { broken[3][frame] = value }
    let truth = render(clean, with: Renderer(layout: layout, filters: filters, busOrder: 1))
    let renderer = Renderer(layout: layout, filters: filters, busOrder: 1)
    let ears = render(broken, with: renderer)
    #expect(renderer.mutedFrameCount == 3)
    for (ear, truth) in zip(ears, truth) {
      #expect(ear.allSatisfy { $0.isFinite })
      #expect(peak(ear) <= 2 * peak(truth))
    }
    let before = [ears, truth].map { $0.map { Array($0[..<1500]) } }
    #expect(residualDecibels(before[0], before[1]) < -120)
    // The sound is back 5 ms after the last bad frame. The low-pass filter remembers a little
    // longer.
    let back = [ears, truth].map { $0.map { Array($0[3000...]) } }
    #expect(residualDecibels(back[0], back[1]) < -100)
  }

  @Test func outputStaysFiniteAndRecoversFromRandomBits() {
    let filters = noiseFilters(order: 1)
    let sound = noise(channels: 4, frames: 4000)
    let input = PlanarSignal(channelCount: 4, frames: 4000) { channel, frame in
      frame < 2000
        ? Float(bitPattern: UInt32(truncatingIfNeeded: (4 * frame + channel) &* 2_654_435_761))
        : sound[channel][frame]
    }
    let renderer = Renderer(layout: ambiX(1), filters: filters, busOrder: 1, finish: .safe)
    let ears = render(input, with: renderer, sizes: [64, 700], head: turningHead)
    #expect(renderer.mutedFrameCount > 200)
    for ear in ears {
      #expect(ear.allSatisfy { $0.isFinite })
      #expect(peak(ear) < 1)
      #expect(peak(ear[3500...]) > 0.01)
    }
  }

  /// Filters whose output overflows make NaN inside the convolution, as a broken design would.
  @Test(arguments: layouts)
  func nanThatArisesInADecoderIsMutedAndCounted(layout: ChannelLayout) {
    let filters = noiseFilters(order: 1)
    let broken = BinauralFilters(
      order: 1, sampleRate: filters.sampleRate,
      left: filters.left.map { $0.map { $0 * 3e36 } },
      right: filters.right.map { $0.map { $0 * 3e36 } })
    let sound = PlanarSignal(channelCount: 6, frames: 6000) { channel, frame in
      Float.random(in: -0.5...0.5) * (frame < 3000 ? 1e3 : 1e-36)
    }
    let renderer = Renderer(layout: layout, filters: broken, busOrder: 1, finish: .safe)
    let ears = render(sound, with: renderer, sizes: [64, 700], head: turningHead)
    #expect(renderer.mutedFrameCount > 2000)
    for ear in ears {
      #expect(ear.allSatisfy { $0.isFinite })
      #expect(peak(ear[..<2900]) < 1e-3)
      // The decoder has forgotten the invalid sound.
      #expect(peak(ear[4500...]) > 0.01)
    }
  }

  /// After `reset`, a used renderer equals a new one to the bit.
  @Test(arguments: layouts, [Renderer.Finish.linear, .safe])
  func resetRestoresTheInitialState(layout: ChannelLayout, finish: Renderer.Finish) {
    let filters = noiseFilters(order: 1, taps: 200)
    let field = noise(channels: 6, frames: 2000)
    let new = Renderer(layout: layout, filters: filters, busOrder: 1, finish: finish)
    let truth = render(field, with: new, head: turningHead)

    let past = noise(channels: 6, frames: 2017, amplitude: 4)
    for frame in [1000, 2016] { past[0][frame] = .nan }
    let old = Renderer(layout: layout, filters: filters, busOrder: 1, finish: finish)
    _ = render(
      past, with: old, sizes: [300], head: turningHead,
      before: {
        if $0 == 300 { old.mode = .plain }
        if $0 == 1800 { old.mode = .spatial }
      })
    old.reset()
    #expect(old.gridPoints(forNext: 1) == 0..<2)
    #expect(render(field, with: old, head: turningHead) == truth)
  }
}
