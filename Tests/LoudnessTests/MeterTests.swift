// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Glibc
import TestSupport
import Testing

@testable import Loudness

/// EBU Tech 3341-2023, table 1: what a meter must read, to 0.1 LU. Cases 1 to 6 are tones of 997 or
/// 1000 Hz, which can be generated.
@Suite struct MeterTests {
  private static let rate = 48_000

  /// Measures consecutive tones, each with a level in dBFS and a duration in seconds.
  private func measure(
    _ parts: [(level: Double, seconds: Double)], weights: [ChannelWeight] = [.main, .main],
    gains: [Double] = [0, 0], hertz: Double = 1000
  ) -> LoudnessMeter {
    let meter = LoudnessMeter(weights: weights, sampleRate: Self.rate, measuresPeak: true)
    var phase = 0.0
    for part in parts {
      let frames = Int(part.seconds * Double(Self.rate))
      let start = phase
      let signal = PlanarSignal(channelCount: weights.count, frames: frames) { channel, frame in
        let level = pow(10, (part.level + gains[channel]) / 20)
        let turn = 2 * .pi * (start + hertz * Double(frame) / Double(Self.rate))
        return Float(level * sin(turn))
      }
      phase += hertz * part.seconds
      meter.add(UnsafePointer(signal.channels), frames: frames)
    }
    return meter
  }

  private func expect(
    _ value: Double?, _ wanted: Double, within: Double = 0.1,
    location: SourceLocation = #_sourceLocation
  ) {
    #expect(abs((value ?? -.infinity) - wanted) <= within, sourceLocation: location)
  }

  @Test func case1ToneReadsMinus23LUFS() {
    let meter = measure([(-23, 20)])
    expect(meter.integrated, -23)
    expect(meter.momentary, -23)
    expect(meter.shortTerm, -23)
  }

  @Test func case2ToneReadsMinus33LUFS() {
    let meter = measure([(-33, 20)])
    expect(meter.integrated, -33)
    expect(meter.shortTerm, -33)
  }

  @Test func loudnessOfTheLastSecondsIsUngated() {
    let meter = measure([(-20, 5), (-70, 1), (-20, 1)])
    expect(meter.loudness(ofLast: 1), -20)
    expect(meter.loudness(ofLast: 2), -23)
    expect(meter.loudness(ofLast: 100), -21.8)
  }

  @Test func case3RelativeGateExcludesQuieterTones() {
    expect(measure([(-36, 10), (-23, 60), (-36, 10)]).integrated, -23)
  }

  @Test func case4BothGatesExcludeQuieterTones() {
    expect(measure([(-72, 10), (-36, 10), (-23, 60), (-36, 10), (-72, 10)]).integrated, -23)
  }

  @Test func case5ThreeTonesReadMinus23LUFS() {
    expect(measure([(-26, 20), (-20, 20.1), (-26, 20)]).integrated, -23)
  }

  /// 5.0: L and R at -28, C at -24, surrounds at -30 dBFS.
  @Test func case6SurroundReadsMinus23LUFS() {
    let layout = [Speaker.frontLeft, .frontRight, .frontCenter, .sideLeft, .sideRight]
    let weights = ChannelWeight.all(.speakers(layout))
    let meter = measure([(0, 20)], weights: weights ?? [], gains: [-28, -28, -24, -30, -30])
    expect(meter.integrated, -23)
  }

  /// BS.1770: a sine of 997 Hz at 0 dBFS in one channel reads -3.01.
  @Test func fullScaleSineReadsMinus3Point01LUFS() {
    expect(
      measure([(0, 5)], weights: [.main], gains: [0], hertz: 997).integrated, -3.01, within: 0.05)
  }

  @Test func truePeakBetweenSamplesIsFound() {
    // A quarter of the sample rate at a phase of 45 degrees: the samples are 3 dB below the peak.
    let meter = LoudnessMeter(weights: [.main], sampleRate: Self.rate, measuresPeak: true)
    let signal = PlanarSignal(channelCount: 1, frames: 48_000) { _, frame in
      Float(sin(.pi * (0.25 + Double(frame) / 2)))
    }
    meter.add(UnsafePointer(signal.channels), frames: signal.frames)
    expect(meter.truePeak, 0, within: 0.3)
  }

  @Test(arguments: [-65.0, -43.21, -23, -10.77, 3])
  func endlessMeterDeviatesByAtMostHalfAHistogramStep(level: Double) {
    let exact = LoudnessMeter(weights: [.main, .main], sampleRate: Self.rate)
    let endless = LoudnessMeter(
      weights: [.main, .main], sampleRate: Self.rate, isEndless: true)
    for (gain, seconds) in [(0.0, 5), (-6.3, 7), (-25, 4), (1.8, 2)] {
      let amplitude = pow(10, (level + gain) / 20)
      let signal = PlanarSignal(channelCount: 2, frames: seconds * Self.rate) { channel, frame in
        Float(amplitude * sin(Double(frame) * (0.131 + 0.002 * Double(channel))))
      }
      exact.add(UnsafePointer(signal.channels), frames: signal.frames)
      endless.add(UnsafePointer(signal.channels), frames: signal.frames)
    }
    expect(endless.integrated, exact.integrated ?? 0, within: 0.051)
  }

  @Test func signalBelowTheAbsoluteGateHasNoLoudness() {
    let meter = measure([(-90, 5)])
    #expect(meter.integrated == nil)
  }

  @Test func invalidSamplesCountAsSilence() {
    for wrong in [Float.nan, .infinity, -.infinity, 1e30] {
      let meter = LoudnessMeter(weights: [.main, .main], sampleRate: Self.rate)
      let signal = PlanarSignal(channelCount: 2, frames: 10 * Self.rate) { _, frame in
        frame % 10_007 == 5 ? wrong : Float(0.1 * sin(Double(frame) * 0.13))
      }
      let clean = PlanarSignal(channelCount: 2, frames: 10 * Self.rate) { _, frame in
        Float(0.1 * sin(Double(frame) * 0.13))
      }
      meter.add(UnsafePointer(signal.channels), frames: signal.frames)
      let reference = LoudnessMeter(weights: [.main, .main], sampleRate: Self.rate)
      reference.add(UnsafePointer(clean.channels), frames: clean.frames)
      expect(meter.integrated, reference.integrated ?? 0, within: 0.3)
    }
  }
}

@Suite struct ChannelWeightTests {
  /// BS.1770-5, table 4: +1.5 dB for M+-060 to M+-120, and 0 dB for height and back loudspeakers.
  @Test func weightsFollowLoudspeakerPositions() {
    let layout: [Speaker] = [
      .frontLeft, .frontRight, .frontCenter, .lowFrequency, .backLeft, .backRight, .sideLeft,
      .sideRight, .topFrontLeft, .topFrontRight, .topBackLeft, .topBackRight,
    ]
    let weights = ChannelWeight.all(.speakers(layout))
    #expect(
      weights == [
        .main, .main, .main, .excluded, .main, .main, .surround, .surround, .main, .main, .main,
        .main,
      ])
  }

  @Test func singleSurroundPairHasSurroundWeight() {
    for pair in [[Speaker.sideLeft, .sideRight], [.backLeft, .backRight]] {
      let layout = [Speaker.frontLeft, .frontRight, .frontCenter, .lowFrequency] + pair
      #expect(ChannelWeight.all(.speakers(layout))?.suffix(2) == [.surround, .surround])
    }
    #expect(ChannelWeight(.wideLeft, in: [.wideLeft]) == .surround)
    #expect(ChannelWeight(.topSideLeft, in: [.topSideLeft]) == .main)
    #expect(ChannelWeight(.backCenter, in: [.backCenter]) == .main)
  }

  @Test func soundfieldHasNoChannelWeights() {
    #expect(
      ChannelWeight.all(.ambisonics(order: 1, convention: .ambiX, headLocked: false)) == nil)
  }
}
