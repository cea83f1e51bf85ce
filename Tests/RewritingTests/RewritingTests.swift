// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import Geometry
import Glibc
import TestSupport
import Testing

@testable import Playback

/// What is heard of a queue that is rendered again.
@Suite struct RewritingTests {
  static let scenes: [(layout: ChannelLayout, order: Int, amplitude: Float)] = [
    (ambiX(1), 1, 0.1), (ambiX(1), 1, 2), (surround51, 5, 0.05), (surround51, 5, 1),
    (ambiX(3), 3, 0.1),
  ]

  /// A head that looks about.
  static func wander(_ t: Double) -> Quaternion {
    YawPitchRoll(yaw: 60 * sin(5 * t), pitch: 20 * sin(3.1 * t), roll: 15 * sin(2.3 * t)).quaternion
  }

  @Test(arguments: scenes.indices)
  func whatIsHeardIsOneRenderingAlongThePosesThatWereHeard(at index: Int) {
    let scene = Self.scenes[index]
    let filters = noiseFilters(order: scene.order)
    let sound = noise(
      channels: scene.layout.channelCount, frames: 120_000, amplitude: scene.amplitude)
    let server = QueueServer(sound, layout: scene.layout, filters: filters)
    server.blocks = [480, 17, 700, 64]
    server.margins = [240, 100, 333]
    server.windows = [1_920, 1_500, 2_400]
    var tracker = SimulatedTracker(Self.wander)
    server.play(96_000) { tracker.push(to: $0) }
    let direct = server.direct(scene.layout, filters)
    let residual = residualDecibels(server.heard, direct)
    print(
      "scene", index, "rewrites", server.rewrites, "residual", residual, "pure",
      server.isPure.filter { $0 }.count, server.isPure.count)
    #expect(server.rewrites > 150)
    #expect(residual < -100)
  }

  @Test func aToneStaysATone() throws {
    let hrtf = HRTFChoice(set: RigidSphereHead().hrtfSet(sampleRate: 48_000))
    let filters = try hrtf.filters(order: 1, settings: RenderSettings(), sampleRate: 48_000)
    let gains = SphericalHarmonics.evaluate(order: 1, SIMD3(1, 0, 0))
    let sound = PlanarSignal(channelCount: 4, frames: 240_000) { c, i in
      0.3 * Float(gains[c]) * Float(sin(2 * .pi * 1000 * Double(i) / 48_000))
    }
    for (jitter, gyro) in [(0.0005, true), (0.004, true), (0.0005, false), (0.004, false)] {
      let server = QueueServer(sound, layout: ambiX(1), filters: filters, busOrder: 1)
      var tracker = SimulatedTracker { YawPitchRoll(yaw: 100 * $0).quaternion }
      tracker.jitter = jitter
      tracker.hasGyroscope = gyro
      server.play(216_000) { tracker.push(to: $0) }
      let spurious = server.heard.map { spuriousDecibels($0) }
      let angles = server.poses.indices.dropFirst(30_00).map { g -> Double in
        let t = Double(g * 16 + server.renderer.latencyFrames) / 48_000
        let truth = tracker.motion(0.0037).conjugate * tracker.motion(t)
        return Quaternion.angle(between: server.poses[g], truth) * 180 / .pi
      }
      let sorted = angles.sorted()
      print(
        "tone", jitter, gyro, "spurious", spurious, "rewrites", server.rewrites, "error p50",
        sorted[sorted.count / 2], "p95", sorted[sorted.count * 95 / 100])
      #expect(spurious[0] < -60)
      #expect(spurious[1] < -60)
    }
  }
}
