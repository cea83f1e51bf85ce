// SPDX-License-Identifier: Apache-2.0

import SignalProcessing
import Testing

@testable import AudioMix

/// Changes of the style and the amount while a mix runs.
@Suite struct FadeTests {
  private func constant(frames: Int) -> MixedStems {
    var stems = MixedStems(frames: frames)
    for c in stems.planes.indices {
      stems.planes[c] = [Float](repeating: c < 4 ? 1 : 0.5, count: frames)
    }
    return stems
  }

  @Test func changeTakesFiftyMillisecondsWithoutAStep() {
    let stems = constant(frames: 9600)
    let mixer = StemMixer(
      channels: 4, sampleRate: 48000, settings: MixSettings(style: .standard, amount: 1))
    let result = stems.mixed(by: mixer, blockFrames: 480) {
      if $0 == 2400 { mixer.value = (.cinematicBackground, 1) }
    }
    #expect(result[1][..<2400].allSatisfy { $0 == 1 })
    #expect(result[1][4800...].allSatisfy { $0 == 0.5 })
    #expect(abs(result[1][3599] - 0.75) < 1e-5)
    let steps = zip(result[1], result[1].dropFirst()).map { abs($0 - $1) }
    #expect(steps.max()! < 0.5 / 2400 * 1.01)
  }

  @Test func changeDuringAFadeStartsFromTheCurrentGains() {
    let stems = constant(frames: 9600)
    let mixer = StemMixer(
      channels: 4, sampleRate: 48000, settings: MixSettings(style: .standard, amount: 1))
    let result = stems.mixed(by: mixer, blockFrames: 240) {
      if $0 == 0 { mixer.value = (.cinematicBackground, 1) }
      if $0 == 1200 { mixer.value = (.standard, 1) }
    }
    let steps = zip(result[1], result[1].dropFirst()).map { abs($0 - $1) }
    #expect(steps.max()! < 0.5 / 2400 * 1.01)
    #expect(result[1][3601...].allSatisfy { $0 == 1 })
  }

  /// A mixer starts with the gains for the amount that `value` reports.
  @Test(arguments: [(-1, 0), (2, 1), (.nan, 0)] as [(Double, Double)])
  func initialAmountIsClamped(_ amount: Double, clamped: Double) {
    let stems = MixedStems(frames: 480)
    func mixer(_ amount: Double) -> StemMixer {
      StemMixer(
        channels: 4, sampleRate: 48000, settings: MixSettings(style: .studio, amount: amount))
    }
    #expect(mixer(amount).value.amount == clamped)
    #expect(stems.mixed(by: mixer(amount)) == stems.mixed(by: mixer(clamped)))
  }

  @Test(arguments: [1, 7, 480, 9600])
  func blockSizeDoesNotMatter(blockFrames: Int) {
    let stems = MixedStems(frames: 9600)
    func result(_ size: Int) -> [[Float]] {
      let mixer = StemMixer(
        channels: 4, sampleRate: 48000, settings: MixSettings(style: .studio, amount: 0.25))
      return stems.mixed(by: mixer, blockFrames: size) {
        if $0 == 0 { mixer.value = (.inFrame, 0.75) }
      }
    }
    #expect(result(blockFrames) == result(256))
  }

  @Test func invalidSamplesStayOutOfTheFilters() {
    var stems = MixedStems(frames: 4800)
    stems.planes[2][100] = .nan
    let tuning = MixTuning(
      ambience: .init(equaliser: [.init(.lowShelf, frequency: 100, gain: 6, quality: 0.7)]))
    let mixer = StemMixer(
      channels: 4, sampleRate: 48000,
      settings: MixSettings(style: .cinematic, amount: 1, tuning: tuning))
    let result = stems.mixed(by: mixer)
    #expect(result[2][100].isNaN)
    #expect(result[2].count { $0.isNaN } == 1)
  }

  @Test func amountIsClamped() {
    let mixer = StemMixer(
      channels: 4, sampleRate: 48000, settings: MixSettings(style: .cinematic, amount: 7))
    #expect(mixer.value.amount == 1)
    mixer.value = (.studio, .nan)
    #expect(mixer.value == (.studio, 0))
    mixer.value = (.studioForeground, -1)
    #expect(mixer.value == (.studioForeground, 0))
  }
}
