// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import Binaural

@Suite("HRTF sets at the playing rate")
struct HRTFPreparedTests {
  private let taps = 700
  /// The position of the impulses: late enough that the longest kernel is not cut off at t = 0.
  private let start = 400

  /// Makes a set with one direction, an impulse at sample 400 of each ear, and the given delays.
  private func impulses(_ delays: [Double], sampleRate: Double = 44_100) -> HRTFSet {
    var responses = [Float](repeating: 0, count: 2 * taps)
    responses[start] = 1
    responses[taps + start] = 0.5
    return HRTFSet(
      name: "impulses", sampleRate: sampleRate, directions: [SIMD3(1, 0, 0)], radius: 1, taps: taps,
      impulseResponses: responses, delays: delays)
  }

  private func expectTransfer(
    _ set: HRTFSet, seconds: [Double], upTo limit: Double, within decibels: Double
  ) {
    #expect(set.delays.allSatisfy { $0 == 0 })
    for (ear, gain) in [1, 0.5].enumerated() {
      var frequency = 50.0
      while frequency < limit {
        let phase = -2 * Double.pi * frequency * seconds[ear]
        let found = transfer(
          set.impulseResponse(direction: 0, ear: ear), sampleRate: set.sampleRate,
          frequency: frequency)
        let error = differenceDecibels(found, (gain * cos(phase), gain * sin(phase)))
        #expect(error < decibels, "ear \(ear), \(frequency) Hz, \(set.sampleRate) Hz")
        frequency *= 1.5
      }
    }
  }

  @Test("Resampling from 44.1 to 48, 96 and 8 kHz preserves responses, arrival times and ITD")
  func repeatedResamplingPreservesResponseAndITD() {
    let delays = [0.3, 7.85]
    let seconds = delays.map { (Double(start) + $0) / 44_100 }
    var set = impulses(delays)
    for (rate, limit) in [(48_000.0, 19_000.0), (96_000, 19_000), (8_000, 3_400)] {
      set = set.prepared(sampleRate: rate)
      #expect(set.sampleRate == rate)
      expectTransfer(set, seconds: seconds, upTo: limit, within: -90)
      #expect(abs(interauralDelay(set, frequency: 1000) - (seconds[1] - seconds[0])) < 1e-7)
    }
  }

  @Test(
    "The transfer function is the same at every rate",
    arguments: [8_000.0, 11_025, 22_050, 44_100, 47_999.5, 88_200, 192_000, 384_000])
  func transferFunctionIsTheSameAtEveryRate(rate: Double) {
    let set = impulses([2.5, 0]).prepared(sampleRate: rate)
    expectTransfer(
      set, seconds: [402.5 / 44_100, 400.0 / 44_100], upTo: min(rate, 44_100) * 0.43, within: -90)
  }

  @Test("At its own rate, a set without delays is unchanged, and integer delays are exact")
  func ownRateKeepsResponsesExact() {
    let still = impulses([0, 0]).prepared(sampleRate: 44_100)
    #expect(still.impulseResponses == impulses([0, 0]).impulseResponses)
    let moved = impulses([0, 12]).prepared(sampleRate: 44_100)
    #expect(moved.taps == 712)
    #expect(moved.impulseResponse(direction: 0, ear: 0).firstIndex(of: 1) == 400)
    #expect(moved.impulseResponse(direction: 0, ear: 1).firstIndex(of: 0.5) == 712 + 412)
    #expect(moved.impulseResponses.filter { $0 != 0 }.count == 2)
  }

  @Test("Long delays fit into the response")
  func longDelaysFitIntoTheResponse() {
    let set = impulses([0, 3000.25]).prepared(sampleRate: 48_000)
    expectTransfer(
      set, seconds: [400.0 / 44_100, 3400.25 / 44_100], upTo: 18_000, within: -90)
  }

  @Test("Resampling images stay below -100 dB")
  func resamplingImagesStayBelowMinus100Decibels() {
    // An impulse contains all frequencies up to 22.05 kHz; at 96 kHz, there must be almost no
    // energy far above.
    let set = impulses([0.37, 0]).prepared(sampleRate: 96_000)
    for frequency in stride(from: 25_000.0, to: 48_000, by: 1_731) {
      let found = transfer(
        set.impulseResponse(direction: 0, ear: 0), sampleRate: 96_000, frequency: frequency)
      #expect(differenceDecibels(found, (0, 0)) < -100)
    }
  }

  private func interauralDelay(_ set: HRTFSet, frequency: Double) -> Double {
    func ear(_ ear: Int) -> (re: Double, im: Double) {
      transfer(
        set.impulseResponse(direction: 0, ear: ear), sampleRate: set.sampleRate,
        frequency: frequency)
    }
    let (left, right) = (ear(0), ear(1))
    let cross = (
      re: left.re * right.re + left.im * right.im, im: left.im * right.re - left.re * right.im
    )
    return atan2(cross.im, cross.re) / (2 * .pi * frequency)
  }
}
