// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import Playback
import TestSupport
import Testing

/// The renderer with the parametric decoder: its latency, and that it applies to all sound.
@Suite struct RendererParametricTests {
  static let waves = try! PlaneWaveResponses(
    set: SyntheticHead.set.prepared(sampleRate: testRate), equalisation: .none)

  static func parametric() throws -> BinauralFilters {
    var filters = try SyntheticHead.filters.get()
    filters.planeWaves = waves
    return filters
  }

  static func renderer(
    _ filters: BinauralFilters, headLocked: Bool = false, mode: Renderer.Mode = .spatial
  ) -> Renderer {
    Renderer(
      layout: ambiX(1, headLocked: headLocked), filters: filters, busOrder: 1, mode: mode)
  }

  /// Head-locked and plain stereo sound the same as with the linear decoder, but later.
  @Test(arguments: [Renderer.Mode.spatial, .plain])
  func headLockedAndPlainStereoHaveTheDecoderLatency(mode: Renderer.Mode) throws {
    var random = SeededGenerator.forTest()
    let field = PlanarSignal(channelCount: 6, frames: 3000) { channel, _ in
      channel >= 4 || mode == .plain ? Float.random(in: -0.5...0.5, using: &random) : 0
    }
    let linear = Self.renderer(try SyntheticHead.filters.get(), headLocked: true, mode: mode)
    let late = Self.renderer(try Self.parametric(), headLocked: true, mode: mode)
    #expect(linear.latencyFrames == 0)
    #expect(late.latencyFrames > 0)
    let (truth, heard) = (render(field, with: linear), render(field, with: late))
    for ear in 0..<2 {
      #expect(
        Array(heard[ear][late.latencyFrames...]) == Array(truth[ear].dropLast(late.latencyFrames)))
    }
  }

  @Test func clickArrivesAfterLatencyAndDecoderDelay() throws {
    let head = RigidSphereHead().hrtfSet(sampleRate: testRate).normalized()
    var filters = try DecoderDesign(order: 1).filters(for: head)
    filters.planeWaves = try PlaneWaveResponses(set: head, equalisation: .none)
    let renderer = Self.renderer(filters)
    let source = head.nearestDirection(to: SIMD3(0.6, 0.7, 0.2))
    let click = PlanarSignal(channelCount: 1, frames: 2000) { $1 == 700 ? 1 : 0 }
    let field = planeWave(click, order: 1, from: head.directions[source])
    let delay = Int((BinauralFilters.delaySeconds * testRate).rounded())
    let at = 700 + renderer.latencyFrames + delay
    let truth = (0..<2).map { ear -> [Float] in
      let response = Array(head.impulseResponse(direction: source, ear: ear))
      return (0..<2000).map { response.indices.contains($0 - at) ? response[$0 - at] : 0 }
    }
    #expect(residualDecibels(render(field, with: renderer), truth) < -20)
  }

  @Test func resetRestoresTheInitialState() throws {
    let renderer = Self.renderer(try Self.parametric())
    let field = noise(channels: 4, frames: 2000)
    let first = render(field, with: renderer, head: turningHead)
    renderer.reset()
    #expect(render(field, with: renderer, head: turningHead) == first)
  }

  /// Loudspeakers and higher orders have better decoders.
  @Test(arguments: [ChannelLayout.stereo, ambiX(2), .speakers(surround51)])
  func parametricDecoderAcceptsOnlyFirstOrder(layout: ChannelLayout) throws {
    var settings = RenderSettings()
    settings.isParametric = true
    settings.busOrder = 1
    #expect {
      _ = try HRTFChoice(set: SyntheticHead.set).filters(
        for: layout, settings: settings, sampleRate: testRate)
    } throws: { ($0 as? PlaybackError)?.description.contains("first-order") == true }
  }
}
