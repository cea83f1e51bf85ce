// SPDX-License-Identifier: Apache-2.0

import Foundation
import SignalProcessing
import Testing

@testable import AudioMix

func decimalLogarithm(_ value: Double) -> Double { log10(value) }

/// The styles against the formulas of docs/audio-mix.md, which are repeated here.
@Suite struct StyleTests {
  private let stems = MixedStems(frames: 2000)

  private func mixed(
    _ style: MixStyle, _ amount: Double, target: MixTarget = .field,
    tuning: MixTuning = MixTuning()
  ) -> [[Float]] {
    let settings = MixSettings(style: style, amount: amount, tuning: tuning)
    return stems.mixed(
      by: StemMixer(channels: 4, sampleRate: 48000, settings: settings, target: target))
  }

  private func formula(_ style: MixStyle, _ a: Double, _ c: Int, _ i: Int) -> Double {
    let (g, s) = (pow(10, -24 * a / 20), pow(10, -30 * a / 20))
    let front = c == 0 || c == 3 ? 1.0 : 0
    let (x, image, framed) = (stems.x(c, i), stems.image(c, i), stems.framed(c, i))
    let ambience = x - image
    return switch style {
    case .standard: x
    case .cinematic: (1 - a) * image + a * front * stems.image(0, i) + g * ambience
    case .studio: (1 - a) * image + a * front * stems.studioSpeech(i) + s * ambience
    case .inFrame: framed + g * (x - framed)
    case .cinematicForeground: front * stems.image(0, i)
    case .studioForeground: front * stems.studioSpeech(i)
    case .inFrameForeground: front * stems.framed(0, i)
    case .cinematicBackground: ambience
    case .studioBackground: x - stems.studio(c, i)
    case .inFrameBackground: x - framed
    }
  }

  private func fiveFormula(_ style: MixStyle, _ a: Double, _ c: Int, _ i: Int) -> Double {
    let (g, s) = (pow(10, -24 * a / 20), pow(10, -30 * a / 20))
    switch style {
    case .cinematic: return c < 4 ? g * (stems.x(c, i) - stems.image(c, i)) : stems.image(0, i)
    case .studio: return c < 4 ? s * (stems.x(c, i) - stems.image(c, i)) : stems.studioSpeech(i)
    case .inFrame: return c < 4 ? g * (stems.x(c, i) - stems.framed(c, i)) : stems.framed(0, i)
    default: return c < 4 ? stems.x(c, i) - stems.image(c, i) : stems.image(0, i)
    }
  }

  @Test(arguments: MixStyle.allCases, [0, 0.3, 0.5, 1])
  func fieldFollowsTheFormula(style: MixStyle, amount: Double) {
    let error = errorDecibels(mixed(style, amount)) { formula(style, amount, $0, $1) }
    #expect(error < -125)
  }

  @Test(arguments: [MixStyle.standard, .cinematic, .studio, .inFrame], [0, 0.3, 1])
  func ambienceAndSpeechFollowTheFormula(style: MixStyle, amount: Double) {
    let result = mixed(style, amount, target: .ambienceAndSpeech)
    #expect(result.count == 5)
    #expect(errorDecibels(result) { fiveFormula(style, amount, $0, $1) } < -125)
  }

  @Test(arguments: [MixStyle.standard, .cinematic, .studio, .inFrame])
  func amountZeroIsTheInputBitForBit(style: MixStyle) {
    #expect(mixed(style, 0) == Array(stems.planes.prefix(4)))
  }

  @Test func tuningGainsApplyAfterTheSplit() {
    let tuning = MixTuning(speech: .init(gainDecibels: 6), ambience: .init(gainDecibels: -3))
    let (t, u) = (pow(10, 6.0 / 20), pow(10, -3.0 / 20))
    let g = pow(10, -12.0 / 20)
    let result = mixed(.cinematic, 0.5, tuning: tuning)
    let error = errorDecibels(result) { c, i in
      let front = c == 0 || c == 3 ? 1.0 : 0
      let speech = 0.5 * stems.image(c, i) + 0.5 * front * stems.image(0, i)
      return t * speech + u * g * (stems.x(c, i) - stems.image(c, i))
    }
    #expect(error < -120)
    // The standard style is the original even with a tuning.
    #expect(mixed(.standard, 0.5, tuning: tuning) == Array(stems.planes.prefix(4)))
  }

  @Test func tuningFiltersLikeItsBiquads() {
    let filter = ParametricFilter(.peak, frequency: 1000, gain: 6, quality: 1)
    let tuning = MixTuning(ambience: .init(equaliser: [filter]))
    let result = mixed(.inFrameBackground, 1, tuning: tuning)
    let biquad = filter.biquad(sampleRate: 48000)!
    for c in 0..<4 {
      var (s1, s2) = (0.0, 0.0)
      let truth = (0..<stems.frames).map { i -> Double in
        let x = stems.x(c, i) - stems.framed(c, i)
        let y = biquad.b0 * x + s1
        s1 = biquad.b1 * x - biquad.a1 * y + s2
        s2 = biquad.b2 * x - biquad.a2 * y
        return y
      }
      #expect(errorDecibels([result[c]]) { truth[$1] } < -115)
    }
  }

  @Test func otherChannelsFollowTheAmbience() {
    let third = MixedStems(frames: 500, channels: 16)
    let mixer = StemMixer(
      channels: 16, sampleRate: 48000, settings: MixSettings(style: .studio, amount: 0.5))
    let result = third.mixed(by: mixer)
    #expect(result.count == 16)
    let gain = pow(10, -15.0 / 20)
    #expect(errorDecibels(Array(result[4...])) { gain * third.x($0 + 4, $1) } < -125)
  }
}
