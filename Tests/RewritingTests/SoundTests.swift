// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import Geometry
import Glibc
import TestSupport
import Testing

@testable import Playback
@testable import Rendering
@testable import SoundSources

/// The sound quality of a rewritten queue.
@Suite struct SoundTests {
  private static let filters = Result {
    try HRTFChoice(set: RigidSphereHead().hrtfSet(sampleRate: 48_000)).filters(
      order: 1, settings: RenderSettings(), sampleRate: 48_000)
  }

  private static func tone(_ frames: Int) -> PlanarSignal {
    let gains = SphericalHarmonics.evaluate(order: 1, SIMD3(1, 0, 0))
    return PlanarSignal(channelCount: 4, frames: frames) { channel, frame in
      0.3 * Float(gains[channel]) * Float(sin(2 * .pi * 1000 * Double(frame) / 48_000))
    }
  }

  static let trackers: [(rate: Double, jitter: Double, hasGyroscope: Bool, noise: Double)] = [
    (100, 0.0005, true, 0), (100, 0.004, true, 0), (100, 0.0005, false, 0), (100, 0.004, false, 0),
    (100, 0.002, true, 0.05), (25, 0.002, true, 0.05), (400, 0.001, true, 0.05),
  ]

  /// Rotation at 100 degrees per second, with trackers whose reports are uneven and have no time
  /// stamps.
  @Test(arguments: trackers.indices, [0, 1])
  func toneStaysNarrowbandWhileTheHeadTurns(tracker index: Int, swing: Int) throws {
    let server = QueueServer(
      Self.tone(240_000), layout: ambiX(1), filters: try Self.filters.get(), busOrder: 1)
    let settings = Self.trackers[index]
    var tracker = SimulatedTracker { t in
      swing == 0
        ? YawPitchRoll(yaw: 100 * t).quaternion
        : YawPitchRoll(yaw: 40 * sin(2.5 * t)).quaternion
    }
    tracker.rate = settings.rate
    tracker.jitter = settings.jitter
    tracker.hasGyroscope = settings.hasGyroscope
    tracker.noise = settings.noise
    server.play(216_000) { tracker.push(to: $0) }
    #expect(server.rewrites > 50)
    for ear in server.heard {
      #expect(spuriousDecibels(ear) < -70)
    }
  }

  /// An exchange of the decoder while the head moves: before and after the fade, the output equals
  /// that of one decoder.
  @Test func decoderExchangeAffectsOnlyTheFade() {
    let (old, new) = (noiseFilters(order: 1, taps: 300), noiseFilters(order: 1, taps: 500))
    let sound = noise(channels: 4, frames: 120_000, amplitude: 0.05)
    let server = QueueServer(sound, layout: ambiX(1), filters: old, busOrder: 1)
    var tracker = SimulatedTracker(RewritingTests.wander)
    server.play(96_000) { server in
      if server.now == 24_000 { server.renderer.exchange(filters: new, busOrder: 1) }
      return tracker.push(to: server)
    }
    #expect(!server.renderer.isExchanging)
    let before = residualDecibels(server.heard, server.direct(ambiX(1), old, busOrder: 1)) {
      $0 < 24_000
    }
    let after = residualDecibels(server.heard, server.direct(ambiX(1), new, busOrder: 1)) {
      $0 > 55_000
    }
    #expect(before < -100)
    #expect(after < -100)
  }

  /// Loud sound, a head that jumps, and windows anywhere: joins are no louder than what they join.
  @Test func truePeakStaysBelowTheCeiling() {
    let sound = PlanarSignal(channelCount: 6, frames: 120_000) { channel, frame in
      let t = Double(frame) / 48_000
      let sum = (1...7).reduce(0.0) { $0 + sin(2 * .pi * Double($1 * 131 + channel * 37) * t) }
      return Float(0.5 * sum * (1 + sin(9 * t)))
    }
    let server = QueueServer(
      sound, layout: surround51, filters: noiseFilters(order: 3), busOrder: 3)
    server.margins = [240, 100, 2_222]
    server.windows = [1_920, 900]
    var tracker = SimulatedTracker { t in
      YawPitchRoll(yaw: 90 * (t * 5).rounded(.down)).quaternion * RewritingTests.wander(t)
    }
    tracker.hasGyroscope = false
    server.play(96_000) { tracker.push(to: $0) }
    #expect(server.rewrites > 100)
    for ear in server.heard {
      let peak = TruePeakMeter.decibels(ear)
      #expect(peak > -2)
      #expect(peak <= -1)
    }
  }

  /// Filters that take too long to fill are not rewritten.
  @Test func veryLongFiltersAreNotRewritten() {
    let sound = noise(channels: 4, frames: 60_000, amplitude: 0.05)
    let server = QueueServer(
      sound, layout: ambiX(1), filters: noiseFilters(order: 1, taps: 12_000), busOrder: 1)
    var tracker = SimulatedTracker(RewritingTests.wander)
    server.play(48_000) { tracker.push(to: $0) }
    #expect(!server.renderer.isRewritable)
    #expect(server.rewrites == 0)
  }
}
