// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@Suite struct TruePeakMeterTests {
  /// All samples of this windowed sine are 45 degrees from the crest, so the peak is 3.01 dB
  /// higher.
  @Test func meterFindsThePeakBetweenSamples() {
    let samples = (0..<4_096).map { frame -> Float in
      let window = 0.5 - 0.5 * cos(2 * .pi * Double(frame) / 4_096)
      return Float(window * sin(.pi / 2 * Double(frame) + .pi / 4))
    }
    #expect(abs(samples.max()! - 0.7071) < 1e-3)
    #expect(abs(TruePeakMeter.decibels(samples)) < 0.01)
  }

  @Test func truePeakOfAnImpulseIsItsMagnitude() {
    var samples = [Float](repeating: 0, count: 500)
    samples[123] = -2
    #expect(abs(TruePeakMeter.truePeak(samples) - 2) < 1e-9)
  }

  /// Two equal adjacent samples give a peak of 2 sinc(1/2).
  @Test func twoEqualSamplesPeakBetweenThem() {
    var samples = [Float](repeating: 0, count: 500)
    samples[123] = 1
    samples[124] = 1
    #expect(abs(TruePeakMeter.truePeak(samples) - 4 / .pi) < 1e-3)
  }
}
