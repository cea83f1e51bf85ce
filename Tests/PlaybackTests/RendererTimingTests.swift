// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import Geometry
import Playback
import TestSupport
import Testing

@Suite struct RendererTimingTests {
  /// Frames per call, frames of the signal, and the frame of the impulse.
  static let calls = [
    (1, 400, 301), (64, 700, 127), (64, 700, 128), (1000, 1500, 999), (8192, 8500, 8191),
    (8192, 8500, 7),
  ]

  @Test(arguments: calls)
  func impulseArrivesAfterTheConstantDelay(size: Int, frames: Int, at: Int) throws {
    var random = SeededGenerator.forTest()
    let filters = try SyntheticHead.filters.get()
    let delay = SyntheticHead.delayFrames + Int(BinauralFilters.delaySeconds * testRate)
    let impulse = PlanarSignal(channelCount: 1, frames: frames) { $1 == at ? 1 : 0 }
    let source = randomDirection(using: &random)
    let field = planeWave(impulse, order: 1, from: source)
    let renderer = Renderer(layout: ambiX(1), filters: filters, busOrder: 1, blockFrames: 64)
    let ears = render(field, with: renderer, sizes: [size])
    for (ear, side) in zip(ears, [0.5, -0.5]) {
      #expect(ear.indices.max { abs(ear[$0]) < abs(ear[$1]) } == at + delay)
      #expect(abs(Double(ear[at + delay]) - (1 + side * source.y)) < 0.01)
    }
  }

  /// Compares the complete response with the defining sum, for impulses at any position in call and
  /// partition.
  @Test(arguments: calls)
  func impulseResponseEqualsTheSumOfTheFilters(size: Int, frames: Int, at: Int) {
    var random = SeededGenerator.forTest()
    let filters = noiseFilters(order: 2, taps: 90)
    let gains = SphericalHarmonics.evaluate(order: 2, randomDirection(using: &random))
    let field = PlanarSignal(channelCount: 9, frames: frames) { channel, frame in
      frame == at ? Float(gains[channel]) : 0
    }
    let truth = [filters.left, filters.right].map { ear in
      (0..<frames).map { frame -> Float in
        guard frame >= at, frame < at + 90 else { return 0 }
        return Float((0..<9).reduce(0) { $0 + gains[$1] * Double(ear[$1][frame - at]) })
      }
    }
    let renderer = Renderer(layout: ambiX(2), filters: filters, busOrder: 2, blockFrames: 64)
    #expect(residualDecibels(render(field, with: renderer, sizes: [size]), truth) < -120)
  }

  static let tails: [(layout: ChannelLayout, taps: Int)] = [
    (ambiX(1), 100), (ambiX(1, headLocked: true), 2), (.mono, 2), (.speakers(surround51), 2),
  ]

  /// After the tail there is no more sound, neither through the filters nor past them.
  @Test(arguments: tails.indices, [Renderer.Finish.linear, .safe])
  func outputIsSilentAfterTheTail(at index: Int, finish: Renderer.Finish) {
    var random = SeededGenerator.forTest()
    let (layout, taps) = Self.tails[index]
    for mode in Renderer.Mode.allCases {
      let renderer = Renderer(
        layout: layout, filters: noiseFilters(order: 1, taps: taps), busOrder: 1, mode: mode,
        finish: finish)
      let frames = 1500
      let end = frames + renderer.latencyFrames + renderer.tailFrames
      let field = PlanarSignal(channelCount: layout.channelCount, frames: end + 500) {
        // Not a constant, because the random taps of a filter may cancel it.
        $1 < frames ? .random(in: -0.2...0.2, using: &random) * Float($0 + 1) : 0
      }
      for ear in render(field, with: renderer) {
        #expect(peak(ear[..<(frames + renderer.latencyFrames)]) > 0.001)
        #expect(peak(ear[end...]) < 1e-4)
      }
    }
  }

  @Test func nilInputRendersTheTail() {
    let filters = noiseFilters(order: 1, taps: 300)
    let field = noise(channels: 4, frames: 100)
    let padded = PlanarSignal(channelCount: 4, frames: 600) { $1 < 100 ? field[$0][$1] : 0 }
    let truth = render(
      padded, with: Renderer(layout: ambiX(1), filters: filters, busOrder: 1), sizes: [100, 500])
    let renderer = Renderer(layout: ambiX(1), filters: filters, busOrder: 1)
    let start = render(field, with: renderer, sizes: [100])
    let rest = PlanarSignal(channelCount: 2, frames: 500)
    let poses = renderer.gridPoints(forNext: 500).map { _ in Quaternion.identity }
    renderer.process(input: nil, frames: 500, poses: poses, left: rest[0], right: rest[1])
    for ear in 0..<2 { #expect(start[ear] + rest.arrays[ear] == truth[ear]) }
  }
}
