// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Geometry
import Glibc
import TestSupport
import Testing

@testable import Playback
@testable import Rendering
@testable import SoundSources

@Suite struct DemoSceneTests {
  @Test func sceneHasHeadroomAndIsSilentAtBothEnds() throws {
    let scene = DemoScene(sampleRate: 16_000)
    #expect(scene.layout == .ambisonics(order: 3, convention: .ambiX, headLocked: false))
    #expect(scene.duration == 320_000)
    let whole = try SceneRecording(scene, frames: 320_000)
    #expect(throws: Never.self) { try scene.seek(toFrame: 320_000) }
    #expect(whole.isFinite)
    let peak = 20 * log10(Double(whole.peak))
    #expect(peak < -6 && peak > -9, "peak \(peak) dBFS")
    for frame in Array(0..<8) + Array(319_992..<320_000) {
      #expect((0..<16).allSatisfy { abs(whole.signal[$0][frame]) < 1e-4 }, "frame \(frame)")
    }
  }

  @Test func readingStopsAtTheEnd() throws {
    let scene = DemoScene(sampleRate: 8000)
    try scene.seek(toFrame: 159_990)
    let rest = try SceneRecording(scene, frames: 10)
    let planes = UnsafeMutablePointer<UnsafeMutablePointer<Float>>.allocate(capacity: 16)
    defer { planes.deallocate() }
    for c in 0..<16 { (planes + c).initialize(to: rest.signal[c]) }
    #expect(try scene.read(into: planes, frames: 10) == 0)
    try scene.seek(toFrame: .max)
    #expect(try scene.read(into: planes, frames: 10) == 0)
    try scene.seek(toFrame: -5)
    #expect(try scene.read(into: planes, frames: 10) == 10)
  }

  @Test(arguments: DemoScenePart.allCases.filter { $0.direction != nil })
  func aVoiceIsAPlaneWaveFromItsDirection(_ part: DemoScenePart) throws {
    // The first stroke of the bell is after 2.4 s.
    let voice = try SceneRecording(parts: [part], frames: 16_000 * 7 / 2)
    let direction = try #require(part.direction).unitVector
    let off = voice.intensity - direction
    #expect(voice.power > 1e-6)
    #expect((off * off).sum() < 1e-8, "\(voice.intensity)")
    let gains = SphericalHarmonics.evaluate(order: 3, direction)
    for frame in stride(from: 0, to: voice.signal.frames, by: 97) {
      let pressure = Double(voice.signal[0][frame])
      for c in 1..<16 {
        #expect(abs(Double(voice.signal[c][frame]) - gains[c] * pressure) < 1e-6)
      }
    }
  }

  @Test func ambienceIsDiffuse() throws {
    let air = try SceneRecording(sampleRate: 8000, parts: [.ambience])
    let vector = air.intensity
    #expect((vector * vector).sum().squareRoot() < 0.2, "\(vector)")
    // In a diffuse field in SN3D, every axis has a third of the pressure's power.
    for c in 1...3 {
      var power = 0.0
      for i in 0..<air.signal.frames { power += Double(air.signal[c][i] * air.signal[c][i]) }
      let share = power / Double(air.signal.frames) / air.power
      #expect(share > 0.2 && share < 0.5, "channel \(c): \(share)")
    }
  }

  @Test func partsAddUpToTheScene() throws {
    let all = try SceneRecording(frames: 48_000)
    let parts = try DemoScenePart.allCases.map { try SceneRecording(parts: [$0], frames: 48_000) }
    for c in 0..<16 {
      for i in stride(from: 0, to: 48_000, by: 31) {
        let sum = parts.reduce(Float(0)) { $0 + $1.signal[c][i] }
        #expect(abs(all.signal[c][i] - sum) < 1e-6)
      }
    }
  }

  @Test func framesAreBitIdenticalForAnyReadSizes() throws {
    let once = try SceneRecording(sampleRate: 11_025, sizes: [4096], frames: 30_000)
    let again = try SceneRecording(
      sampleRate: 11_025, sizes: [1, 7, 512, 1000, 3, 513], frames: 30_000)
    #expect(once.isIdentical(to: again))
  }

  @Test func seekMatchesALinearRead() throws {
    let linear = try SceneRecording(sampleRate: 8000)
    let scene = DemoScene(sampleRate: 8000)
    // Seek forward and backward: to onsets, between them, and to both ends.
    for frame in [80_000, 2400, 2401, 0, 143_999, 40_007, 16_800, 159_000, 1] {
      try scene.seek(toFrame: frame)
      let part = try SceneRecording(scene, frames: 1000)
      #expect(linear.isIdentical(to: part, offset: frame), "from frame \(frame)")
    }
  }

  @Test func theSampleRateDoesNotChangeTheLoudness() throws {
    let powers = try [16_000, 22_050, 48_000].map { rate in
      let scene = try SceneRecording(sampleRate: rate, frames: rate * 2)
      return 10 * log10(scene.power)
    }
    #expect(powers.allSatisfy { abs($0 - powers[2]) < 1.5 }, "\(powers)")
  }

  /// Measures processor time, so that other load on the machine does not count.
  @Test func sceneIsSynthesisedFarFasterThanRealTime() throws {
    let start = cpuSeconds()
    let scene = DemoScene()
    let first = try SceneRecording(scene, sizes: [256], frames: 256)
    let afterFirst = cpuSeconds()
    let second = try SceneRecording(scene, sizes: [256], frames: 48_000)
    let end = cpuSeconds()
    let speed = 1 / (end - afterFirst)
    print(
      "demo scene: first block after \((afterFirst - start) * 1000) ms,",
      "then \(speed) times real time")
    #expect(first.isFinite && second.isFinite)
    #if DEBUG
      #expect(afterFirst - start < 0.2)
    #else
      #expect(afterFirst - start < 0.02)
      #expect(speed > 50)
    #endif
  }

  private func cpuSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }
}
