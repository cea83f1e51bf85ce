// SPDX-License-Identifier: Apache-2.0

import Glibc

extension HRTFSet {
  /// The band in which the levels of sets, decoders and equalisers are measured, in Hz.
  static let levelBand = 200.0...8_000.0

  /// The set's level in a diffuse field, in dB: the mean of |H|^2 over both ears, over the
  /// directions (weighted by `areaWeights`) and over the frequencies from 200 Hz to 8 kHz.
  public var diffuseFieldLevelDecibels: Double {
    diffuseFieldLevelDecibels(weights: areaWeights)
  }

  func diffuseFieldLevelDecibels(weights: [Double]) -> Double {
    let power = BandPower(taps: taps, sampleRate: sampleRate, band: Self.levelBand)
    let mean = impulseResponses.withUnsafeBufferPointer { samples in
      weights.indices.reduce(0.0) { sum, index in
        let start = offset(direction: index, ear: 0)
        let left = UnsafeBufferPointer(rebasing: samples[start..<start + taps])
        let right = UnsafeBufferPointer(rebasing: samples[start + taps..<start + 2 * taps])
        return sum + weights[index] * power.sum(left, right) / 2
      }
    }
    return 10 * log10(mean)
  }

  /// Returns the set scaled by one gain to a diffuse-field level of 0 dB; unchanged if the set is
  /// silent.
  public func normalized() -> HRTFSet {
    scaled(byDecibels: -diffuseFieldLevelDecibels)
  }

  /// Returns the set amplified by `decibels`; unchanged if `decibels` is not finite.
  func scaled(byDecibels decibels: Double) -> HRTFSet {
    guard decibels.isFinite else { return self }
    let gain = Float(pow(10, decibels / 20))
    var result = self
    result.impulseResponses = impulseResponses.map { $0 * gain }
    return result
  }
}
