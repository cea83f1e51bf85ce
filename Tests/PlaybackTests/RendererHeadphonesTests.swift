// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import Glibc
import Playback
import SignalProcessing
import TestSupport
import Testing

/// Headphone equalisers apply to all sound, and loudspeakers can replace headphones during
/// playback.
@Suite struct RendererHeadphonesTests {
  private static let taps: [Float] = (0..<150).map { n in
    n == 0 ? 1 : 0.3 * Float.random(in: -1...1) * (1 - Float(n) / 150)
  }

  private func convolve(_ x: [Float], _ taps: [Float]) -> [Float] {
    x.indices.map { n in
      (0..<min(taps.count, n + 1)).reduce(Float(0)) { $0 + taps[$1] * x[n - $1] }
    }
  }

  private func expectEqualisationAfterDecoding(
    _ filters: BinauralFilters, _ layout: ChannelLayout, _ source: PlanarSignal,
    mode: Renderer.Mode = .spatial
  ) {
    func heard(_ filters: BinauralFilters) -> [[Float]] {
      let renderer = Renderer(
        layout: layout, filters: filters, busOrder: filters.order, blockFrames: 64, mode: mode)
      return render(source, with: renderer, sizes: [64, 100, 1], head: turningHead)
    }
    let before = heard(filters)
    #expect(before.joined().contains { abs($0) > 0.01 })
    let truth = before.map { convolve($0, Self.taps) }
    #expect(residualDecibels(heard(filters.equalised(by: Self.taps)), truth) < -100)
  }

  @Test func soundfieldAndHeadLockedStereoAreEqualised() {
    expectEqualisationAfterDecoding(
      noiseFilters(order: 2), ambiX(2, headLocked: true), noise(channels: 11, frames: 4000))
  }

  @Test func bedWithLFEIsEqualised() {
    expectEqualisationAfterDecoding(
      noiseFilters(order: 3), .speakers(surround51), noise(channels: 6, frames: 4000))
  }

  @Test func lfeAloneIsEqualised() {
    var random = SeededGenerator.forTest()
    expectEqualisationAfterDecoding(
      noiseFilters(order: 3), .speakers(surround51),
      PlanarSignal(channelCount: 6, frames: 4000) { c, _ in
        c == 3 ? .random(in: -0.5...0.5, using: &random) : 0
      })
  }

  @Test(arguments: [ambiX(1), .stereo, .speakers(surround51)])
  func plainStereoIsEqualised(layout: ChannelLayout) {
    expectEqualisationAfterDecoding(
      noiseFilters(order: layout == ambiX(1) ? 1 : 3), layout,
      noise(channels: layout.channelCount, frames: 4000), mode: .plain)
  }

  @Test(arguments: [Renderer.Mode.spatial, .plain])
  func parametricDecoderIsEqualised(mode: Renderer.Mode) throws {
    expectEqualisationAfterDecoding(
      try RendererParametricTests.parametric(), ambiX(1, headLocked: true),
      noise(channels: 6, frames: 4000), mode: mode)
  }

  @Test func tailIncludesTheEqualiserTaps() {
    let filters = noiseFilters(order: 1, taps: 24).equalised(by: Self.taps)
    let renderer = Renderer(layout: .stereo, filters: filters, busOrder: 1, mode: .plain)
    #expect(renderer.tailFrames >= 16 + Self.taps.count - 1)
    #expect(renderer.tailFrames >= 24 + Self.taps.count - 2)
  }

  /// In both modes, the output after the exchange equals that of a renderer with the new filters
  /// from the start.
  @Test(arguments: [Renderer.Mode.spatial, .plain])
  func equaliserExchangeIsSmooth(mode: Renderer.Mode) {
    let old = noiseFilters(order: 1)
    let new = old.equalised(by: Self.taps)
    let sound = noise(channels: 2, frames: 12_000)
    let truth = render(
      sound, with: Renderer(layout: .stereo, filters: new, busOrder: 1, mode: mode))
    let renderer = Renderer(layout: .stereo, filters: old, busOrder: 1, mode: mode)
    let ears = render(sound, with: renderer, sizes: [100], head: stillHead) { at in
      if at == 5000 { #expect(renderer.exchange(filters: new, busOrder: 1)) }
    }
    #expect(!renderer.isExchanging)
    let late = (ears.map { Array($0[9000...]) }, truth.map { Array($0[9000...]) })
    #expect(residualDecibels(late.0, late.1) < -100)
    // A slow sine stays one, without additional steps.
    let sine = PlanarSignal(channelCount: 2, frames: 12_000) { _, n in
      0.5 * Float(sin(Double(n) * 0.02))
    }
    let other = Renderer(layout: .stereo, filters: old, busOrder: 1, mode: mode)
    let moved = render(sine, with: other, sizes: [100], head: stillHead) { at in
      if at == 5000 { other.exchange(filters: new, busOrder: 1) }
    }
    let loudest = peak(moved.joined())
    for ear in moved { #expect(largestStep(Array(ear[500...])) < 0.03 * loudest) }
  }

  /// From headphones to loudspeakers and back, for every design that supports both.
  @Test(arguments: [false, true])
  func switchingToLoudspeakersAndBackIsSmooth(isDirect: Bool) throws {
    var head = RigidSphereHead()
    head.ringSpacing = 15
    let hrtf = HRTFChoice(set: head.hrtfSet(sampleRate: testRate))
    var settings = RenderSettings()
    settings.isDirect = isDirect
    settings.busOrder = 3
    settings.headphones = HeadphoneProfile(
      name: "x", filters: [.init(.peak, frequency: 1000, gain: 3, quality: 1)])
    let phones = try hrtf.filters(for: .stereo, settings: settings, sampleRate: testRate)
    settings.playback = .laptop
    let speakers = try hrtf.filters(for: .stereo, settings: settings, sampleRate: testRate)
    #expect(phones.equaliser != nil && speakers.equaliser == nil)
    let sine = PlanarSignal(channelCount: 2, frames: 24_000) { c, n in
      c == 0 ? 0.5 * Float(sin(Double(n) * 0.1)) : 0
    }
    let renderer = Renderer(layout: .stereo, filters: phones, busOrder: 3)
    let ears = render(sine, with: renderer, sizes: [160], head: stillHead) { at in
      if at == 6400 { #expect(renderer.exchange(filters: speakers, busOrder: 3)) }
      if at == 14_400 { #expect(renderer.exchange(filters: phones, busOrder: 3)) }
    }
    #expect(!renderer.isExchanging)
    // While the loudspeakers play, and long after.
    for ear in ears { #expect(largestStep(Array(ear[1000...])) < 0.13 * peak(ear)) }
    let truth = render(
      sine, with: Renderer(layout: .stereo, filters: phones, busOrder: 3), sizes: [160])
    let late = (ears.map { Array($0[21_000...]) }, truth.map { Array($0[21_000...]) })
    #expect(residualDecibels(late.0, late.1) < -100)
  }

  @Test func parametricDecoderIsRefusedForLoudspeakers() {
    var settings = RenderSettings()
    settings.isParametric = true
    settings.playback = .laptop
    let hrtf = HRTFChoice(set: SyntheticHead.set)
    #expect(throws: PlaybackError.self) {
      try hrtf.filters(for: ambiX(1), settings: settings, sampleRate: testRate)
    }
  }

  @Test func circumferenceIsRefusedForASetWithoutInterauralDelay() {
    var settings = RenderSettings()
    settings.headCircumference = 0.57
    let hrtf = HRTFChoice(set: SyntheticHead.set)
    #expect(throws: PlaybackError.self) {
      try hrtf.filters(for: ambiX(1), settings: settings, sampleRate: testRate)
    }
  }
}
