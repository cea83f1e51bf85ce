// SPDX-License-Identifier: Apache-2.0

import Playback
import TestSupport
import Testing

@Suite struct SampleRendererTests {
  private let firstOrder = ChannelLayout.ambisonics(
    order: 1, convention: .ambiX, headLocked: false)
  private let turned = YawPitchRoll(yaw: 40, pitch: 10, roll: -20).quaternion

  private func makeRenderer(
    _ layout: ChannelLayout, finish: Renderer.Finish = .linear,
    change: (inout RenderSettings) -> Void = { _ in }
  ) -> SampleRenderer {
    var settings = RenderSettings()
    settings.busOrder = 1
    change(&settings)
    return SampleRenderer(
      layout: layout, filters: .madeUp(order: 1), settings: settings, finish: finish)
  }

  private func noise(channels: Int, frames: Int) -> [Float] {
    var generator = SeededGenerator(1)
    return (0..<channels * frames).map { _ in Float.random(in: -0.5...0.5, using: &generator) }
  }

  @Test func constantPoseMatchesTheRenderer() {
    let frames = 3000
    let samples = noise(channels: 4, frames: frames)
    let found = makeRenderer(firstOrder).render(samples, headPose: turned)
    let engine = makeRenderer(firstOrder).renderer
    let input = PlanarSignal(channelCount: 4, frames: frames) { samples[$1 * 4 + $0] }
    let output = PlanarSignal(channelCount: 2, frames: frames)
    let poses = [Quaternion](
      repeating: turned.normalized, count: engine.gridPoints(forNext: frames).count)
    engine.process(
      input: UnsafePointer(input.channels), frames: frames, poses: poses, left: output[0],
      right: output[1])
    let expected = (0..<2 * frames).map { output[$0 % 2][$0 / 2] }
    #expect(residual(found, expected) < -120)
    #expect(found.contains { abs($0) > 0.1 })
  }

  @Test(arguments: [1, 31, 480, 2000])
  func outputIsIndependentOfTheCallSize(size: Int) {
    let frames = 2400
    let samples = noise(channels: 4, frames: frames)
    let whole = makeRenderer(firstOrder).render(samples, headPose: turned)
    let renderer = makeRenderer(firstOrder)
    var parts: [Float] = []
    for start in stride(from: 0, to: frames, by: size) {
      let end = min(frames, start + size)
      parts += renderer.render(Array(samples[4 * start..<4 * end]), headPose: turned)
    }
    #expect(residual(whole, parts) < -120)
  }

  @Test func planarAndInterleavedOutputAreEqual() {
    let frames = 1500
    let samples = noise(channels: 4, frames: frames)
    let interleaved = makeRenderer(firstOrder).render(samples, headPose: turned)
    let input = PlanarSignal(channelCount: 4, frames: frames) { samples[$1 * 4 + $0] }
    let output = PlanarSignal(channelCount: 2, frames: frames)
    makeRenderer(firstOrder).process(
      planar: UnsafePointer(input.channels), frames: frames, headPose: turned,
      left: output[0], right: output[1])
    #expect(interleaved == (0..<2 * frames).map { output[$0 % 2][$0 / 2] })
  }

  /// The head turns evenly within a call, so large and small calls agree for an even turn.
  @Test func headTurnsEvenlyWithinACall() {
    let frames = 48000
    let samples = noise(channels: 4, frames: frames)
    func rendered(callFrames: Int) -> [Float] {
      let renderer = makeRenderer(firstOrder)
      return stride(from: 0, to: frames, by: callFrames).flatMap { start in
        let end = start + callFrames
        let pose = YawPitchRoll(yaw: 100 * Double(end) / Double(frames)).quaternion
        return renderer.render(Array(samples[4 * start..<4 * end]), headPose: pose)
      }
    }
    // The first call holds its pose; skip it and its decay.
    let small = Array(rendered(callFrames: 320).dropFirst(2 * 8000))
    let large = Array(rendered(callFrames: 3200).dropFirst(2 * 8000))
    #expect(residual(small, large) < -100)
    let held = Array(
      makeRenderer(firstOrder).render(samples, headPose: turned).dropFirst(2 * 8000))
    #expect(residual(small, held) > -40)
  }

  @Test func invalidPoseHoldsTheLastOne() {
    let samples = noise(channels: 4, frames: 1000)
    let good = makeRenderer(firstOrder)
    let bad = makeRenderer(firstOrder)
    let invalid = Quaternion(w: .nan, x: 0, y: 0, z: 0)
    #expect(good.render(samples, headPose: turned) == bad.render(samples, headPose: turned))
    #expect(good.render(samples, headPose: turned) == bad.render(samples, headPose: invalid))
  }

  @Test func resetRestoresTheInitialState() {
    let renderer = makeRenderer(firstOrder, finish: .safe)
    let samples = noise(channels: 4, frames: 1111)
    let first = renderer.render(samples, headPose: turned)
    _ = renderer.render(samples)
    renderer.reset()
    #expect(renderer.render(samples, headPose: turned) == first)
  }

  @Test func outputIsSilentAfterTheTail() {
    let renderer = makeRenderer(.mono, finish: .safe)
    _ = renderer.render([Float](repeating: 0.1, count: 9600))
    let tail = renderer.renderTail()
    #expect(tail.count == 2 * (renderer.renderer.tailFrames + renderer.renderer.latencyFrames))
    #expect(tail.contains { abs($0) > 0.01 })
    #expect(renderer.render([Float](repeating: 0, count: 4800)).allSatisfy { abs($0) < 1e-6 })
  }

  @Test func gainsMultiply() {
    let samples = noise(channels: 4, frames: 800)
    let plain = makeRenderer(firstOrder).render(samples, headPose: turned)
    var finish = Renderer.Finish.linear
    finish.gain = 0.5
    let louder = makeRenderer(firstOrder, finish: finish) {
      $0.gainDecibels = 12.041199826559248
    }.render(samples, headPose: turned)
    #expect(residual(louder, plain.map { 2 * $0 }) < -100)
  }

  @Test func stereoIsUnchangedWithoutSpatialization() {
    let renderer = makeRenderer(.stereo) { $0.spatialization = .off }
    let ears = StereoSound(interleaved: renderer.render([Float](repeating: 0, count: 960)))
    #expect(ears.left.allSatisfy { $0 == 0 })
    var pulse = [Float](repeating: 0, count: 960)
    pulse[0] = 0.5
    let heard = StereoSound(interleaved: renderer.render(pulse, headPose: turned))
    #expect(abs(heard.left.max()! - 0.5) < 1e-6)
    #expect(heard.right.allSatisfy { $0 == 0 })
  }

  /// With `import Playback` alone, members of other modules' types and their extensions are
  /// accessible.
  @Test func playbackImportExposesLevelsAndDirections() {
    let renderer = makeRenderer(.stereo)
    _ = renderer.render([Float](repeating: 0.5, count: 960))
    #expect(renderer.renderer.levels().peak.x > 0.01)
    #expect(Speaker.frontLeft.direction(in: [.frontLeft, .frontRight])?.azimuth == 30)
    #expect(abs(YawPitchRoll(YawPitchRoll(yaw: 20).quaternion).yaw - 20) < 1e-9)
  }

  @Test func emptyInputGivesEmptyOutput() {
    #expect(makeRenderer(firstOrder).render([], headPose: turned).isEmpty)
  }
}
