// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import Binaural

@Suite("Diffuse-field level of HRTF sets")
struct HRTFLevelTests {
  private func set(_ responses: [[Float]], sampleRate: Double = 48_000) -> HRTFSet {
    let directions = RigidSphereHead.rings(spacing: 30)
    let taps = responses[0].count
    return HRTFSet(
      name: "level", sampleRate: sampleRate, directions: directions, radius: 1, taps: taps,
      impulseResponses: directions.flatMap { _ in responses.flatMap { $0 } },
      delays: [Double](repeating: 0, count: 2 * directions.count))
  }

  @Test("The level is the mean power of both ears", arguments: [16, 200, 513])
  func levelIsTheMeanPowerOfBothEars(taps: Int) {
    var (left, right) = ([Float](repeating: 0, count: taps), [Float](repeating: 0, count: taps))
    left[3] = 1
    right[taps - 1] = 2
    #expect(abs(set([left, right]).diffuseFieldLevelDecibels - 10 * log10(2.5)) < 1e-6)
  }

  @Test("The level is the mean power from 200 Hz to 8 kHz")
  func levelIsTheMeanPowerFrom200HzTo8kHz() {
    // |1 + exp(-i w)|^2 = 2 + 2 cos w has a closed-form mean over a band.
    var response = [Float](repeating: 0, count: 256)
    response[10] = 1
    response[11] = 1
    for rate in [16_000.0, 44_100, 96_000] {
      let (low, high) = (2 * Double.pi * 200 / rate, 2 * Double.pi * 8_000 / rate)
      let mean = 2 + 2 * (sin(high) - sin(low)) / (high - low)
      let level = set([response, response], sampleRate: rate).diffuseFieldLevelDecibels
      #expect(abs(level - 10 * log10(mean)) < 0.01)
    }
  }

  @Test("Directions are weighted by area")
  func directionsAreWeightedByArea() {
    var uneven = set([[1, 0], [1, 0]])
    // The upper half has twice the amplitude; the cells at the horizon are in both halves.
    for (index, direction) in uneven.directions.enumerated() where direction.z > 0.01 {
      for ear in 0..<2 { uneven.impulseResponses[uneven.offset(direction: index, ear: ear)] = 2 }
    }
    let upper = zip(uneven.areaWeights, uneven.directions).reduce(0.0) {
      $0 + ($1.1.z > 0.01 ? $1.0 : 0)
    }
    #expect(abs(uneven.diffuseFieldLevelDecibels - 10 * log10(1 + 3 * upper)) < 1e-6)
  }

  @Test("Normalisation applies one gain that brings the set to 0 dB")
  func normalisationAppliesOneGainToReachZeroDecibels() {
    let original = RigidSphereHead().hrtfSet(sampleRate: 16_000).scaled(byDecibels: -17)
    let result = original.normalized()
    #expect(abs(result.diffuseFieldLevelDecibels) < 1e-4)
    let gain = pow(10, -original.diffuseFieldLevelDecibels / 20)
    for index in stride(from: 0, to: result.impulseResponses.count, by: 997) {
      let expected = Double(original.impulseResponses[index]) * gain
      #expect(abs(Double(result.impulseResponses[index]) - expected) < 1e-5 * abs(expected) + 1e-9)
    }
  }

  @Test("Normalisation leaves a silent set unchanged")
  func normalisationLeavesSilenceUnchanged() {
    let silent = set([[0, 0], [0, 0]])
    #expect(silent.normalized().impulseResponses == silent.impulseResponses)
  }
}
