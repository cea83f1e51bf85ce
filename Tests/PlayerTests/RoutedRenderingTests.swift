// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import Geometry
import PulseAudio
import SoundServer
import TestSupport
import Testing

@testable import Playback
@testable import Rendering
@testable import SoundSources

/// The filters in use for each route, as the route changes.
@Suite struct RoutedRenderingTests {
  /// Renders like an output, so that new decoders take effect.
  private final class RoutedOutput {
    let renderer: Renderer
    let head = HeadToStageSource(.none)
    let redesigner: Redesigner
    let rendering: RoutedRendering
    private let output = PlanarSignal(channelCount: 2, frames: 1024)
    var policy = RoutePolicy()
    private let programme = Programme(
      layout: .speakers([.frontLeft, .frontRight, .frontCenter]))

    init(_ settings: RenderSettings, on device: RouteDevice) throws {
      var settings = settings
      settings.busOrder = 1
      policy.cancelsCrosstalk = settings.playback != .headphones
      let decision = policy.decision(for: programme, on: Self.facts(device))
      let loudspeakers = settings.playback == .headphones ? .laptop : settings.playback
      settings.playback = decision.playback(settings, loudspeakers: loudspeakers) ?? .headphones
      let filters = try HRTFChoice(path: nil).filters(
        for: programme.layout, settings: settings, sampleRate: 48_000)
      renderer = Renderer(
        layout: programme.layout, filters: filters, busOrder: 1, mode: decision.renderedMode)
      redesigner = Redesigner(renderer: renderer, layout: programme.layout) { _ in }
      rendering = RoutedRendering(
        settings: settings, decision: decision, mode: .tracked, loudspeakers: loudspeakers,
        renderer: renderer, head: head, redesigner: redesigner, refresh: {})
    }

    deinit { redesigner.stop() }

    static func facts(_ device: RouteDevice) -> RouteFacts {
      var facts = RouteFacts(sink: "here")
      facts.portType =
        device == .headphones ? .headphones : device == .loudspeakers ? .speaker : nil
      return facts
    }

    func move(to device: RouteDevice) {
      rendering.apply(policy.decision(for: programme, on: Self.facts(device)), .tracked)
    }

    /// Renders until the mode is reached; returns false on timeout.
    func reaches(_ mode: Renderer.Mode) -> Bool {
      waitUntil(seconds: 20) {
        let poses = renderer.gridPoints(forNext: 1024).map { _ in Quaternion.identity }
        renderer.process(
          input: nil, frames: 1024, poses: poses, left: output[0], right: output[1])
        return renderer.mode == mode
      }
    }
  }

  @Test func routeChangePlaysPlainStereoUntilFiltersAreReady() throws {
    var settings = RenderSettings()
    settings.playback = .loudspeakers(angle: 0.3)
    let routed = try RoutedOutput(settings, on: .headphones)
    #expect(routed.renderer.mode == .spatial && routed.rendering.settings.playback == .headphones)
    #expect(routed.head.isFollowed)
    routed.move(to: .loudspeakers)
    #expect(routed.renderer.mode == .plain && !routed.head.isFollowed)
    #expect(routed.reaches(.spatial))
    #expect(routed.rendering.settings.playback == .loudspeakers(angle: 0.3))
    routed.move(to: .headphones)
    #expect(routed.renderer.mode == .plain && routed.head.isFollowed)
    #expect(routed.reaches(.spatial))
    #expect(routed.rendering.settings.playback == .headphones)
  }

  @Test func requestedLoudspeakersApplyToAnUnknownRoute() throws {
    var settings = RenderSettings()
    settings.playback = .laptop
    let routed = try RoutedOutput(settings, on: .unknown)
    #expect(routed.rendering.settings.playback == .laptop && routed.renderer.mode == .spatial)
  }

  @Test func equaliserIsNotAppliedToLoudspeakers() throws {
    var settings = RenderSettings()
    settings.headphones = HeadphoneProfile(
      name: "made up", filters: [.init(.peak, frequency: 1000, gain: 6, quality: 1)])
    let routed = try RoutedOutput(settings, on: .headphones)
    routed.move(to: .loudspeakers)
    #expect(routed.rendering.settings.playback == .laptop && routed.renderer.mode == .plain)
    routed.move(to: .headphones)
    #expect(routed.reaches(.spatial))
    #expect(routed.rendering.settings.playback == .headphones)
  }

  @Test func plainStereoWithoutEqualiserKeepsTheFilters() throws {
    let routed = try RoutedOutput(RenderSettings(), on: .headphones)
    routed.move(to: .loudspeakers)
    #expect(routed.renderer.mode == .plain && routed.rendering.settings.playback == .headphones)
    routed.move(to: .headphones)
    #expect(routed.renderer.mode == .spatial)
  }
}
