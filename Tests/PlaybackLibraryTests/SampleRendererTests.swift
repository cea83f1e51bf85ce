// SPDX-License-Identifier: Apache-2.0

import Playback
import TestSupport
import Testing

@Suite struct SampleRendererTests {
  /// A set that needs no file.
  private static let sphere = HRTFChoice(set: RigidSphereHead().hrtfSet(sampleRate: 48000))
  private let firstOrder = ChannelLayout.ambisonics(
    order: 1, convention: .ambiX, headLocked: false)
  private let turned = YawPitchRoll(yaw: 40, pitch: 10, roll: -20).quaternion

  private func makeRenderer(
    _ layout: ChannelLayout, finish: Renderer.Finish = .linear,
    change: (inout RenderSettings) -> Void = { _ in }
  ) throws -> SampleRenderer {
    var settings = RenderSettings()
    change(&settings)
    return try SampleRenderer(
      layout: layout, sampleRate: 48000, settings: settings, hrtf: Self.sphere, finish: finish)
  }

  private func noise(channels: Int, frames: Int) -> [Float] {
    var generator = LinearCongruence()
    return (0..<channels * frames).map { _ in Float.random(in: -0.5...0.5, using: &generator) }
  }

  @Test func oneHeldPoseGivesWhatTheEngineGives() throws {
    let frames = 3000
    let samples = noise(channels: 4, frames: frames)
    let mine = try makeRenderer(firstOrder).render(samples, headPose: turned)
    let engine = try makeRenderer(firstOrder).renderer
    let input = PlanarSignal(channelCount: 4, frames: frames) { samples[$1 * 4 + $0] }
    let output = PlanarSignal(channelCount: 2, frames: frames)
    let poses = [Quaternion](
      repeating: turned.normalized, count: engine.gridPoints(forNext: frames).count)
    engine.process(
      input: UnsafePointer(input.channels), frames: frames, poses: poses, left: output[0],
      right: output[1])
    let theirs = (0..<2 * frames).map { output[$0 % 2][$0 / 2] }
    #expect(residual(mine, theirs) < -120)
    #expect(StereoSound(interleaved: mine).levelDifference(atSeconds: 0.03) != 0)
  }

  @Test(arguments: [1, 31, 480, 2000])
  func callsOfAnySizeGiveTheSame(size: Int) throws {
    let frames = 2400
    let samples = noise(channels: 4, frames: frames)
    let whole = try makeRenderer(firstOrder).render(samples, headPose: turned)
    let renderer = try makeRenderer(firstOrder)
    var parts: [Float] = []
    for start in stride(from: 0, to: frames, by: size) {
      let end = min(frames, start + size)
      parts += renderer.render(Array(samples[4 * start..<4 * end]), headPose: turned)
    }
    #expect(residual(whole, parts) < -120)
  }

  @Test func planesGiveWhatInterleavedSamplesGive() throws {
    let frames = 1500
    let samples = noise(channels: 4, frames: frames)
    let interleaved = try makeRenderer(firstOrder).render(samples, headPose: turned)
    let input = PlanarSignal(channelCount: 4, frames: frames) { samples[$1 * 4 + $0] }
    let output = PlanarSignal(channelCount: 2, frames: frames)
    try makeRenderer(firstOrder).process(
      planar: UnsafePointer(input.channels), frames: frames, headPose: turned,
      left: output[0], right: output[1])
    #expect(interleaved == (0..<2 * frames).map { output[$0 % 2][$0 / 2] })
  }

  /// The head turns evenly within a call, so large calls and small ones agree on an even turn.
  @Test func turnsEvenlyWithinACall() throws {
    let frames = 48000
    let samples = noise(channels: 4, frames: frames)
    func rendered(callFrames: Int) throws -> [Float] {
      let renderer = try makeRenderer(firstOrder)
      return stride(from: 0, to: frames, by: callFrames).flatMap { start in
        let end = start + callFrames
        let pose = YawPitchRoll(yaw: 100 * Double(end) / Double(frames)).quaternion
        return renderer.render(Array(samples[4 * start..<4 * end]), headPose: pose)
      }
    }
    // The first call holds its pose; it is left out, and so is what still sounds of it.
    let small = Array(try rendered(callFrames: 320).dropFirst(2 * 8000))
    let large = Array(try rendered(callFrames: 3200).dropFirst(2 * 8000))
    #expect(residual(small, large) < -100)
    let held = Array(
      try makeRenderer(firstOrder).render(samples, headPose: turned).dropFirst(2 * 8000))
    #expect(residual(small, held) > -40)
  }

  @Test func aPoseThatIsNoneHoldsTheLast() throws {
    let samples = noise(channels: 4, frames: 1000)
    let good = try makeRenderer(firstOrder)
    let bad = try makeRenderer(firstOrder)
    let none = Quaternion(w: .nan, x: 0, y: 0, z: 0)
    #expect(good.render(samples, headPose: turned) == bad.render(samples, headPose: turned))
    #expect(good.render(samples, headPose: turned) == bad.render(samples, headPose: none))
  }

  @Test func resetBeginsAnew() throws {
    let renderer = try makeRenderer(firstOrder, finish: .safe)
    let samples = noise(channels: 4, frames: 1111)
    let first = renderer.render(samples, headPose: turned)
    _ = renderer.render(samples)
    renderer.reset()
    #expect(renderer.render(samples, headPose: turned) == first)
  }

  @Test func theTailIsAllThatStillSounds() throws {
    let renderer = try makeRenderer(.mono, finish: .safe)
    _ = renderer.render([Float](repeating: 0.1, count: 9600))
    let tail = renderer.renderTail()
    #expect(tail.count == 2 * (renderer.renderer.tailFrames + renderer.renderer.latencyFrames))
    #expect(tail.contains { abs($0) > 0.01 })
    #expect(renderer.render([Float](repeating: 0, count: 4800)).allSatisfy { abs($0) < 1e-6 })
  }

  @Test func gainsMultiply() throws {
    let samples = noise(channels: 4, frames: 800)
    let plain = try makeRenderer(firstOrder).render(samples, headPose: turned)
    var finish = Renderer.Finish.linear
    finish.gain = 0.5
    let louder = try makeRenderer(firstOrder, finish: finish) {
      $0.gainDecibels = 12.041199826559248
    }.render(samples, headPose: turned)
    #expect(residual(louder, plain.map { 2 * $0 }) < -100)
  }

  @Test func whatIsNotMadeSpatialPlaysAsItIs() throws {
    let renderer = try makeRenderer(.stereo) { $0.spatialization = .off }
    let ears = StereoSound(interleaved: renderer.render([Float](repeating: 0, count: 960)))
    #expect(ears.left.allSatisfy { $0 == 0 })
    var pulse = [Float](repeating: 0, count: 960)
    pulse[0] = 0.5
    let heard = StereoSound(interleaved: renderer.render(pulse, headPose: turned))
    #expect(abs(heard.left.max()! - 0.5) < 1e-6)
    #expect(heard.right.allSatisfy { $0 == 0 })
  }

  @Test func nothingInIsNothingOut() throws {
    #expect(try makeRenderer(firstOrder).render([], headPose: turned).isEmpty)
  }
}

/// The same numbers every time (Knuth, MMIX).
struct LinearCongruence: RandomNumberGenerator {
  private var state: UInt64 = 1

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state
  }
}
