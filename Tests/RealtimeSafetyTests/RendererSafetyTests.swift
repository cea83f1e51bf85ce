// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import CRealtime
import Geometry
import Glibc
import Playback
import TestSupport
import Testing

@testable import Rendering

/// The complete render call: guard, treatment, rotation, decoding, modes, gain, limiter and meter.
@Suite struct RendererSafetyTests {
  static let layouts: [ChannelLayout] = [
    .ambisonics(order: 1, convention: .ambiX, headLocked: true),
    .ambisonics(order: 7, convention: .ambiX, headLocked: false),
    .speakers([.frontLeft, .frontRight, .frontCenter, .lowFrequency, .sideLeft, .sideRight]),
  ]

  @Test(arguments: layouts, [Renderer.Finish.linear, .safe])
  func renderCallIsRealtimeSafe(layout: ChannelLayout, finish: Renderer.Finish) {
    let order = if case .ambisonics(let order, _, _) = layout { order } else { 3 }
    // More frames than the renderer processes in one chunk, unless a debug build is too slow for
    // that.
    let frames = order < 7 ? 1100 : 320
    let renderer = Renderer(
      layout: layout, filters: filters(order: order), busOrder: order, blockFrames: 64,
      finish: finish)
    let input = PlanarSignal(channelCount: layout.channelCount, frames: frames) {
      $1.isMultiple(of: 90) ? 8 : Float($0 + 1) * 0.01
    }
    let ears = PlanarSignal(channelCount: 2, frames: frames)
    let head = Head()
    func process(_ frames: Int, from source: PlanarSignal?) {
      renderer.process(
        input: source?.channels, frames: frames, poses: head.poses(renderer, frames),
        left: ears[0], right: ears[1])
    }
    var call = 0
    expectRealtimeSafe {
      call += 1
      // Each of the three runs has an invalid sample, a change of mode and a turn. The last run is
      // the one that is counted.
      input[0][300] = .nan
      renderer.mode = renderer.mode == .plain ? .spatial : .plain
      renderer.gain = call == 2 ? 0.5 : 1
      process(64, from: input)
      process(1, from: input)
      process(frames, from: input)
      process(32, from: nil)
      _ = renderer.levels()
    }
    #expect(call == 3)
    #expect(renderer.mutedFrameCount == 3)
  }

  /// From the first call with new filters until the old ones have been removed.
  @Test func decoderExchangeIsRealtimeSafe() {
    let renderer = Renderer(
      layout: .stereo, filters: filters(order: 3), busOrder: 3, blockFrames: 64)
    let input = PlanarSignal(channelCount: 2, frames: 1100) { Float($0 + $1 % 50) * 0.01 }
    let ears = PlanarSignal(channelCount: 2, frames: 1100)
    let head = Head()
    for (order, calls) in [(5, 2), (1, 8)] {
      renderer.exchange(filters: filters(order: order), busOrder: order)
      expectRealtimeSafe {
        for _ in 0..<calls {
          renderer.process(
            input: input.channels, frames: 1100, poses: head.poses(renderer, 16), left: ears[0],
            right: ears[1])
        }
      }
    }
    #expect(!renderer.isExchanging)
  }

  /// With an equaliser inside and outside the filters, in both modes and during an exchange.
  @Test func renderCallWithEqualiserIsRealtimeSafe() {
    let layout = Self.layouts[2]
    let taps = (0..<200).map { Float(200 - $0) * 0.001 }
    let renderer = Renderer(
      layout: layout, filters: filters(order: 3).equalised(by: taps), busOrder: 3,
      blockFrames: 64)
    let input = PlanarSignal(channelCount: 6, frames: 1100) { Float($0 + $1 % 50) * 0.01 }
    let ears = PlanarSignal(channelCount: 2, frames: 1100)
    let head = Head()
    renderer.exchange(filters: filters(order: 3).equalised(by: [1, 0.5]), busOrder: 3)
    expectRealtimeSafe {
      renderer.mode = renderer.mode == .plain ? .spatial : .plain
      // 1, 33 and 1089.
      var frames = 1
      while frames < 1100 {
        renderer.process(
          input: input.channels, frames: frames, poses: head.poses(renderer, frames),
          left: ears[0], right: ears[1])
        frames *= 33
      }
    }
  }

  /// The parametric decoder, which processes a frame only in some of the calls, followed by an
  /// equaliser. Its output is also rendered again.
  @Test func parametricDecoderIsRealtimeSafe() throws {
    var random = SeededGenerator.forTest()
    var head = RigidSphereHead()
    head.ringSpacing = 20
    var filters = filters(order: 1)
    filters.planeWaves = try PlaneWaveResponses(
      set: head.hrtfSet(sampleRate: 48_000), equalisation: .none)
    let layout = ChannelLayout.ambisonics(order: 1, convention: .ambiX, headLocked: false)
    let renderer = Renderer(
      layout: layout, filters: filters.equalised(by: (0..<200).map { Float(200 - $0) * 0.001 }),
      busOrder: 1, blockFrames: 256, mode: .spatial, finish: .safe, rewritableSeconds: 0.5)
    let input = PlanarSignal(channelCount: 4, frames: 700) { channel, _ in
      Float.random(in: -0.5...0.5, using: &random) * (channel == 0 ? 1 : 0.5)
    }
    let ears = PlanarSignal(channelCount: 2, frames: 700)
    let turning = Head()
    func process(_ frames: Int) {
      renderer.process(
        input: input.channels, frames: frames, poses: turning.poses(renderer, frames),
        left: ears[0], right: ears[1])
    }
    expectRealtimeSafe {
      process(64)
      process(1)
      process(700)
      renderer.process(
        input: nil, frames: 32, poses: turning.poses(renderer, 32), left: ears[0], right: ears[1])
    }
    for _ in 0..<30 { process(700) }
    let plan = try #require(renderer.planRewrite(framesBack: 3000, frames: 1920))
    let poses = [Quaternion](repeating: .identity, count: plan.points.count)
    let output = PlanarSignal(channelCount: 1, frames: 2 * 1920)
    expectRealtimeSafe { renderer.rewrite(plan, poses: poses, into: output[0]) }
  }

  /// Loudspeakers with responses of their own directions.
  @Test(arguments: [32, 256])
  func directDecoderIsRealtimeSafe(blockFrames: Int) throws {
    var random = SeededGenerator.forTest()
    let set = RigidSphereHead().hrtfSet(sampleRate: 48000).normalized()
    let layout = ChannelLayout.speakers([
      .frontLeft, .frontRight, .frontCenter, .lowFrequency, .sideLeft, .sideRight,
    ])
    let renderer = Renderer(
      layout: layout,
      filters: BinauralFilters(direct: try DirectDesign().bank(for: set), sampleRate: 48000),
      busOrder: 5, blockFrames: blockFrames, finish: .safe)
    let input = PlanarSignal(channelCount: 6, frames: 1024) { _, _ in
      .random(in: -1...1, using: &random)
    }
    let ears = PlanarSignal(channelCount: 2, frames: 1024)
    var point = 0
    for _ in 0..<8 {
      let poses = (0..<70).map { _ in
        point += 1
        return YawPitchRoll(yaw: Double(point), pitch: 3, roll: 2).quaternion
      }
      expectRealtimeSafe {
        renderer.process(
          input: input.channels, frames: 1000, poses: poses, left: ears[0], right: ears[1])
      }
    }
  }

  /// The call marks its own real-time section. A section around it must stay open afterwards.
  @Test(.enabled(if: realtime_sanitizer_present()))
  func enclosingRealtimeSectionStaysOpen() async {
    await #expect(processExitsWith: .exitCode(43)) {
      let renderer = Renderer(layout: .stereo, filters: filters(order: 1), busOrder: 1)
      let ears = PlanarSignal(channelCount: 2, frames: 32)
      let head = Head()
      realtime_enter()
      renderer.process(
        input: nil, frames: 32, poses: head.poses(renderer, 32), left: ears[0], right: ears[1])
      ears[0].deallocate()
      realtime_exit()
    }
  }

  /// After the section of the call has ended, everything is allowed again.
  @Test(.enabled(if: realtime_sanitizer_present()))
  func renderCallClosesItsRealtimeSection() async {
    await #expect(processExitsWith: .exitCode(7)) {
      let renderer = Renderer(layout: .stereo, filters: filters(order: 1), busOrder: 1)
      let ears = PlanarSignal(channelCount: 2, frames: 32)
      renderer.process(
        input: nil, frames: 32, poses: Head().poses(renderer, 32), left: ears[0], right: ears[1])
      exit(ears.arrays.count == 2 ? 7 : 8)
    }
  }
}

private func filters(order: Int) -> BinauralFilters {
  let channels = SphericalHarmonics.channelCount(order: order)
  let ear = (0..<channels).map { channel in
    (0..<150).map { 0.1 / Float(1 + $0 + channel) }
  }
  return BinauralFilters(order: order, sampleRate: 48_000, left: ear, right: ear)
}

/// A head that keeps turning, in memory that is allocated before the sections begin.
private final class Head {
  private let memory = UnsafeMutablePointer<Quaternion>.allocate(capacity: 200)

  init() {
    for g in 0..<200 {
      (memory + g).initialize(to: YawPitchRoll(yaw: Double(g) * 0.7, pitch: 10).quaternion)
    }
  }

  deinit { memory.deallocate() }

  func poses(_ renderer: Renderer, _ frames: Int) -> UnsafePointer<Quaternion> {
    UnsafePointer(memory + renderer.gridPoints(forNext: frames).lowerBound % 120)
  }
}
