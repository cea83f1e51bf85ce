// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import Geometry
import Glibc
import SignalProcessing
import TestSupport
import Testing

@testable import Playback
@testable import Rendering
@testable import SoundSources

/// The output of a queue that is rendered again while the head moves.
@Suite struct RewritingTests {
  static let scenes: [(layout: ChannelLayout, order: Int, amplitude: Float)] = [
    (ambiX(1), 1, 0.1), (ambiX(1), 1, 2), (surround51, 5, 0.05), (surround51, 5, 1),
    (ambiX(3), 3, 0.1),
  ]

  /// A head that looks around.
  static func wander(_ t: Double) -> Quaternion {
    YawPitchRoll(yaw: 60 * sin(5 * t), pitch: 20 * sin(3.1 * t), roll: 15 * sin(2.3 * t)).quaternion
  }

  /// A policy that never accepts the queue as it is, so that the end of a window is never audible.
  private static var neverKeepingTheQueue: RewritePolicy {
    var policy = RewritePolicy()
    (policy.band, policy.keptBand) = (-1, -1)
    return policy
  }

  private static func server(
    _ index: Int, _ filters: BinauralFilters, policy: RewritePolicy = RewritePolicy()
  ) -> QueueServer {
    let scene = scenes[index]
    let sound = noise(
      channels: scene.layout.channelCount, frames: 120_000, amplitude: scene.amplitude)
    let server = QueueServer(sound, layout: scene.layout, filters: filters, policy: policy)
    server.blocks = [480, 17, 700, 64]
    return server
  }

  @Test(arguments: scenes.indices)
  func rewrittenOutputEqualsOnePassRendering(at index: Int) {
    let scene = Self.scenes[index]
    let filters = noiseFilters(order: scene.order)
    let server = Self.server(index, filters, policy: Self.neverKeepingTheQueue)
    server.margins = [240, 100, 333]
    server.windows = [1_920, 1_500, 2_400]
    var tracker = SimulatedTracker(Self.wander)
    server.play(96_000) { tracker.push(to: $0) }
    #expect(server.rewrites > 150)
    #expect(server.isPure.allSatisfy { $0 })
    let direct = server.direct(scene.layout, filters)
    #expect(residualDecibels(server.heard, direct) < -100)
    let limited = server.heard.map { peak($0) }.max() ?? 0
    #expect(scene.amplitude < 0.5 ? limited < 0.85 : limited > 0.7)
  }

  /// If the queue is good as it is, the end of a window is audible: for a moment, two renderings
  /// for poses that differ by less than the band.
  @Test(arguments: scenes.indices, [0.2, 1])
  func keptQueueDiffersLittleFromOnePassRendering(at index: Int, speed: Double) {
    let scene = Self.scenes[index]
    let filters = noiseFilters(order: scene.order)
    let server = Self.server(index, filters)
    var tracker = SimulatedTracker { Self.wander(speed * $0) }
    server.play(96_000) { tracker.push(to: $0) }
    #expect(residualDecibels(server.heard, server.direct(scene.layout, filters)) < -60)
  }

  /// The parametric decoder, whose memory is longer than its filters. A headphone equaliser follows
  /// it.
  @Test(arguments: [false, true])
  func parametricOutputEqualsOnePassRendering(isEqualised: Bool) throws {
    var settings = RenderSettings()
    settings.isParametric = true
    if isEqualised {
      settings.headphones = HeadphoneProfile(
        name: "x", filters: [.init(.peak, frequency: 1000, gain: 9, quality: 1)])
    }
    let head = HRTFChoice(set: RigidSphereHead().hrtfSet(sampleRate: 48_000))
    let filters = try head.filters(for: ambiX(1), settings: settings, sampleRate: 48_000)
    #expect(filters.planeWaves != nil && (filters.equaliser != nil) == isEqualised)
    let server = Self.server(0, filters, policy: Self.neverKeepingTheQueue)
    server.margins = [240, 100, 333]
    server.windows = [1_920, 2_400]
    var tracker = SimulatedTracker(Self.wander)
    server.play(96_000) { tracker.push(to: $0) }
    #expect(server.rewrites > 150)
    let direct = server.direct(ambiX(1), filters)
    #expect(residualDecibels(server.heard, direct) < -100)
    let errors = server.errors { Self.wander($0) }.dropFirst(1_500).sorted()
    #expect(errors[errors.count * 95 / 100] * degrees < 5)
  }

  /// Windows anywhere in the queue, whose ends are audible: what is not a mixture still equals the
  /// one rendering.
  @Test(arguments: [0, 2, 4])
  func unmixedFramesEqualOnePassRendering(at index: Int) {
    let scene = Self.scenes[index]
    let filters = noiseFilters(order: scene.order)
    let server = Self.server(index, filters)
    // Quiet, because the limiter would remember the mixtures.
    server.feed.volume = 0.2
    server.margins = [240, 2_000, 4_123, 777, 5_000]
    server.windows = [1_920, 700, 3_000]
    var tracker = SimulatedTracker(Self.wander)
    server.play(96_000) { tracker.push(to: $0) }
    let direct = server.direct(scene.layout, filters)
    let isPure = server.isPure
    #expect(isPure.contains(false))
    #expect(isPure.filter { $0 }.count > isPure.count / 3)
    let residual = residualDecibels(server.heard, direct) { server.isPure(around: $0) }
    #expect(residual < -100)
  }

  /// In spite of a deep queue, the audible pose is nearly that of the head.
  @Test(arguments: [(100.0, 2.0), (400, 1.5), (25, 6)])
  func audiblePoseFollowsTheHead(rate: Double, limit: Double) {
    let server = Self.server(0, noiseFilters(order: 1, taps: 32))
    server.head.takesDriftBack = false
    var tracker = SimulatedTracker(Self.wander)
    tracker.rate = rate
    server.play(96_000) { tracker.push(to: $0) }
    let errors = server.errors { Self.wander($0) }.dropFirst(1_500).sorted()
    #expect(errors[errors.count * 95 / 100] * degrees < limit)
  }

  /// A head at rest causes no rewriting.
  @Test func headAtRestCausesNoRewriting() {
    let server = Self.server(0, noiseFilters(order: 1, taps: 32))
    var tracker = SimulatedTracker { _ in .identity }
    tracker.noise = 0.03
    server.play(96_000) { tracker.push(to: $0) }
    #expect(server.rewrites == 0)
  }

  /// A step of the head is audible immediately, and the sound changes smoothly.
  @Test(arguments: [30.0, 90])
  func headStepIsAudibleWithin18Milliseconds(angle: Double) {
    let sound = PlanarSignal(channelCount: 4, frames: 60_000) { channel, frame in
      [0.3, 0.2, 0, 0.1][channel] * Float(sin(2 * .pi * 200 * Double(frame) / 48_000))
    }
    let filters = noiseFilters(order: 1, taps: 32)
    let server = QueueServer(sound, layout: ambiX(1), filters: filters, busOrder: 1)
    let step = 0.5
    var tracker = SimulatedTracker { $0 < step ? .identity : YawPitchRoll(yaw: angle).quaternion }
    tracker.hasGyroscope = false
    var reported: Double?
    server.play(48_000) { server in
      let isNew = tracker.push(to: server)
      let now = Double(server.now) / 48_000
      if isNew, now > step, reported == nil { reported = now }
      return isNew
    }
    let times = server.poses.indices.map { server.heardSeconds($0) }
    let yaws = server.poses.map { $0.rotationVector.z * degrees }
    let half = zip(times, yaws).first { $0.1 > angle / 2 }?.0 ?? .infinity
    let whole = zip(times, yaws).first { $0.1 > 0.95 * angle }?.0 ?? .infinity
    let report = reported ?? 0
    // The margin is 5 ms, and the limiter's look-ahead is 1 ms.
    #expect(half - report < 0.013)
    #expect(whole - report < 0.018)
    #expect(yaws.allSatisfy { $0 < 1.2 * angle })
    let direct = server.direct(ambiX(1), filters, busOrder: 1)
    let residual = residualDecibels(server.heard, direct) { server.isPure(around: $0) }
    #expect(residual < -100)
    // No step between samples is much larger than those of the louder of the two steady states.
    let steady = [0..<24_000, 36_000..<47_000].flatMap { range in
      server.heard.map { largestStep(Array($0[range])) }
    }
    #expect(server.heard.allSatisfy { largestStep($0) < 1.3 * (steady.max() ?? 0) })
  }

  /// Returns the highest speed over 10 ms, in degrees per second. At the end of a window the queue
  /// may be 0.3 degrees off.
  private func highestSpeed(_ yaws: ArraySlice<Double>) -> Double {
    zip(yaws, yaws.dropFirst(30)).reduce(0) { max($0, abs($1.1 - $1.0) * 100) }
  }

  /// Recentring is not a step.
  @Test func recentringTurnsTheFrontGradually() {
    let server = Self.server(0, noiseFilters(order: 1, taps: 32))
    var tracker = SimulatedTracker { t in
      YawPitchRoll(yaw: 60 * min(1, max(0, 4 * (t - 0.5)))).quaternion
    }
    server.play(96_000) { server in
      if server.now == 57_600 { server.head.recenter() }
      return tracker.push(to: server)
    }
    let yaws = server.poses.map { $0.rotationVector.z * degrees }
    #expect(yaws.contains { $0 > 58 })
    #expect(abs(yaws[yaws.count - 1]) < 1)
    let left = yaws.indices.first { server.heardSeconds($0) > 1.2 && yaws[$0] < 57 } ?? 0
    #expect(server.heardSeconds(left) < 1.3)
    // 60 degrees with minimum jerk in 0.4 s: at most 281 degrees per second.
    #expect(highestSpeed(yaws[left...]) < 400)
  }

  /// The mode changes while the queue is deep.
  @Test func modeChangeIsPromptAndSmooth() {
    let server = Self.server(0, noiseFilters(order: 1, taps: 32))
    var tracker = SimulatedTracker { YawPitchRoll(yaw: 60 * min(1, max(0, 4 * $0 - 1))).quaternion }
    server.play(96_000) { server in
      let isChange = server.now == 48_000
      if isChange { server.stage.isFollowed = false }
      return tracker.push(to: server) || isChange
    }
    let yaws = server.poses.map { $0.rotationVector.z * degrees }
    let left = yaws.indices.first { server.heardSeconds($0) > 1 && yaws[$0] < 58 } ?? 0
    #expect(server.heardSeconds(left) < 1.1)
    #expect(abs(yaws[yaws.count - 1]) < 0.01)
    #expect(highestSpeed(yaws[left...]) < 400)
  }
}

let degrees = 180 / Double.pi
