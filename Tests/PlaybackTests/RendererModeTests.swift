// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import Glibc
import Playback
import TestSupport
import Testing

@Suite struct RendererModeTests {
  private static let rampFrames = Int(testRate * 0.05)

  private let sine = PlanarSignal(channelCount: 2, frames: 4000) { channel, frame in
    0.5 * Float(cos(2 * .pi * 50 * Double(frame - 1500) / testRate + 0.5 * Double(channel)))
  }

  @Test(arguments: [(Renderer.Mode.spatial, Renderer.Mode.plain), (.plain, .spatial)])
  func modeChangeCrossfadesWithoutAStep(from: Renderer.Mode, to: Renderer.Mode) {
    // Much louder than plain stereo, so that a hard switch would be a step.
    let filters = BinauralFilters(
      order: 1, sampleRate: testRate, left: constant(-3), right: constant(2))
    let (change, end) = (1500, 1500 + Self.rampFrames)
    let (old, new) = (renderedIn(from, filters), renderedIn(to, filters))
    let renderer = Renderer(layout: .stereo, filters: filters, busOrder: 1, mode: from)
    let ears = render(
      sine, with: renderer, sizes: [500],
      before: {
        if $0 == change { renderer.mode = to }
      })
    #expect(renderer.mode == to)
    for (ear, (old, new)) in zip(ears, zip(old, new)) {
      // Two gains whose sum is 1, each of which changes by at most pi / 2 / length per frame.
      let slope = Float.pi / 2 / Float(Self.rampFrames)
      let steps = [ear, old, new].map { largestStep(Array($0[200...])) }
      let allowed = max(steps[1], steps[2]) + slope * (peak(old) + peak(new))
      #expect(steps[0] < allowed)
      #expect(abs(new[change] - old[change - 1]) > 4 * allowed, "the test could not fail")
      #expect(ear[..<change] == old[..<change])
      #expect(ear[end...] == new[end...])
      #expect(zip(ear, old).prefix(end - 50).suffix(100).contains { abs($0 - $1) > 0.01 })
    }
  }

  /// An inaudible mode must not keep the sound from its last use.
  @Test func reactivatedModeContainsNoOldSound() {
    let renderer = Renderer(
      layout: .stereo, filters: noiseFilters(order: 1), busOrder: 1, mode: .plain)
    let field = PlanarSignal(channelCount: 2, frames: 6000) { _, frame in frame < 2000 ? 1 : 0 }
    let ears = render(
      field, with: renderer, sizes: [500],
      before: {
        if $0 == 1000 { renderer.mode = .spatial }
        if $0 == 4000 { renderer.mode = .plain }
      })
    for ear in ears { #expect(peak(ear[4000...]) == 0) }
  }

  private func constant(_ gain: Float) -> [[Float]] {
    [[gain]] + [[Float]](repeating: [0], count: 3)
  }

  private func renderedIn(_ mode: Renderer.Mode, _ filters: BinauralFilters) -> [[Float]] {
    render(
      sine, with: Renderer(layout: .stereo, filters: filters, busOrder: 1, mode: mode),
      sizes: [500])
  }
}
