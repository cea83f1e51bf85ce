// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import Surround

/// Returns the output of `Upmixer` for a pair: FL, FR, FC, LFE, SL, SR, with the latency removed.
func upmixed(
  _ left: [Float], _ right: [Float], rate: Double = 48_000,
  settings: UpmixSettings = UpmixSettings()
) -> [[Float]] {
  let upmixer = Upmixer(sampleRate: rate, settings: settings)
  let (hop, late) = (upmixer.hopFrames, upmixer.latencyFrames)
  let hops = (left.count + late + hop - 1) / hop
  let rest = [Float](repeating: 0, count: hops * hop - left.count)
  let input = PlanarSignal([left + rest, right + rest])
  let output = PlanarSignal(channelCount: 6, frames: hops * hop)
  var done = 0
  input.forEachPiece(of: [hop]) { planes, _ in
    var targets = (0..<6).map { output[$0] + done }
    upmixer.process(left: planes[0], right: planes[1], into: &targets)
    done += hop
  }
  return output.arrays.map { Array($0[late..<(late + left.count)]) }
}

func energy(_ x: some Sequence<Float>) -> Double { x.reduce(0) { $0 + Double($1) * Double($1) } }

func decibels(_ a: Double, over b: Double) -> Double { 10 * log10(max(a, 1e-30) / max(b, 1e-30)) }

@Suite struct UpmixerTests {
  private func noise(_ count: Int, _ level: Float = 0.2) -> [Float] {
    (0..<count).map { _ in Float.random(in: -level...level) }
  }

  /// Returns the error of the BS.775 fold-down relative to the input, in dB.
  private func foldDownError(_ out: [[Float]], _ left: [Float], _ right: [Float]) -> Double {
    let half = Float(0.5.squareRoot())
    let errors = left.indices.map { i in
      (
        out[0][i] + half * (out[2][i] + out[4][i]) - left[i],
        out[1][i] + half * (out[2][i] + out[5][i]) - right[i]
      )
    }
    return decibels(
      energy(errors.map(\.0)) + energy(errors.map(\.1)), over: energy(left) + energy(right))
  }

  @Test(arguments: [8000.0, 11_025, 44_100, 48_000, 96_000, 192_000, 384_000])
  func foldDownRestoresTheInputAtEveryRate(rate: Double) {
    let count = Int(rate / 4)
    let (voice, left, right) = (noise(count), noise(count, 0.1), noise(count, 0.1))
    let (l, r) = (zip(voice, left).map(+), zip(voice, right).map(+))
    let out = upmixed(l, r, rate: rate)
    #expect(foldDownError(out, l, r) < -120)
    #expect(out[3].allSatisfy { $0 == 0 })
    for (settings, limit) in [(UpmixSettings(), 0.043), (.lowLatency, 0.0214)] {
      let upmixer = Upmixer(sampleRate: rate, settings: settings)
      #expect(Double(upmixer.windowFrames) / rate <= limit)
      #expect(Double(upmixer.windowFrames) / rate > limit * 0.9)
    }
    #expect(foldDownError(upmixed(l, r, rate: rate, settings: .lowLatency), l, r) < -120)
  }

  @Test func identicalChannelsGoToTheCentreOnly() {
    let x = noise(24_000)
    let out = upmixed(x, x)
    let whole = energy(x)
    for c in [0, 1, 4, 5] { #expect(decibels(energy(out[c]), over: whole) < -90, "\(c)") }
    #expect(abs(decibels(energy(out[2]), over: 2 * whole)) < 0.01)
  }

  @Test(arguments: [false, true])
  func oneSidedSoundStaysOnItsSide(right: Bool) {
    let (x, none) = (noise(24_000), [Float](repeating: 0, count: 24_000))
    let out = right ? upmixed(none, x) : upmixed(x, none)
    let own = right ? 1 : 0
    #expect(abs(decibels(energy(out[own]), over: energy(x))) < 0.01)
    for c in 0..<6 where c != own { #expect(decibels(energy(out[c]), over: energy(x)) < -90) }
  }

  @Test func oppositePhaseAvoidsTheCentreAndKeepsItsEnergy() {
    let x = noise(24_000)
    let out = upmixed(x, x.map { -$0 })
    #expect(decibels(energy(out[2]), over: energy(x)) < -90)
    let sum = (0..<6).reduce(0.0) { $0 + energy(out[$1]) }
    #expect(abs(decibels(sum, over: 2 * energy(x))) < 0.1)
  }

  @Test func uncorrelatedNoiseGoesToTheSurrounds() {
    let (a, b) = (noise(96_000), noise(96_000))
    let out = upmixed(a, b)
    let whole = energy(a) + energy(b)
    #expect(decibels(energy(out[4]) + energy(out[5]), over: whole) > -5)
    #expect(decibels(energy(out[2]), over: whole) < -13)
    var product = 0.0
    for i in 0..<a.count { product += Double(out[4][i]) * Double(out[5][i]) }
    #expect(abs(product) / (energy(out[4]) * energy(out[5])).squareRoot() < 0.1)
  }

  @Test func silenceStaysSilent() {
    let none = [Float](repeating: 0, count: 10_000)
    #expect(upmixed(none, none).allSatisfy { $0.allSatisfy { $0 == 0 } })
    // Silence after sound must also stay silent, once the window has passed.
    let x = noise(5000) + none
    let out = upmixed(x, noise(5000) + none)
    #expect(out.allSatisfy { $0.dropFirst(5000 + 2048).allSatisfy { $0 == 0 } })
  }

  /// A centred click over uncorrelated noise of the same spectrum must not be audible long before
  /// it.
  @Test func clicksHaveNoPreEcho() {
    let at = 24_000
    var (l, r) = (noise(48_000, 0.001), noise(48_000, 0.001))
    let quiet = upmixed(l, r)
    (l[at], r[at]) = (0.5, 0.5)
    let out = upmixed(l, r)
    for c in [0, 1, 2, 4, 5] {
      // The change more than 2 ms before the click, relative to the click.
      let early = (at - 4800..<at - 96).map { out[c][$0] - quiet[c][$0] }
      #expect(decibels(energy(early), over: 0.25) < -25, "channel \(c)")
    }
    #expect(out[2][at] > 0.6)
    // A click out of silence must be unchanged.
    var alone = [Float](repeating: 0, count: 9600)
    alone[4800] = 0.5
    let clean = upmixed(alone, alone)[2]
    #expect(abs(clean[4800] - 0.5 * Float(2.0.squareRoot())) < 1e-4)
    #expect(clean.enumerated().allSatisfy { $0.offset == 4800 || abs($0.element) < 1e-5 })
  }

  /// A sweep at the centre, off the centre and at one side must always be as loud as the input.
  @Test(arguments: [(1.0, 1.0), (1.0, 0.6), (1.0, 0.0), (0.2, 1.0)])
  func sweepsKeepTheirLevel(gains: (Double, Double)) {
    let (count, rate) = (96_000, 48_000.0)
    let sweep = (0..<count).map { i -> Double in
      let t = Double(i) / Double(count)
      let cycles = 20 * Double(count) / rate / log(1000) * (pow(1000, t) - 1)
      return 0.5 * sin(2 * .pi * cycles)
    }
    let out = upmixed(sweep.map { Float($0 * gains.0) }, sweep.map { Float($0 * gains.1) })
    for start in stride(from: 9600, to: count - 9600, by: 4800) {
      let range = start..<(start + 4800)
      let input =
        energy(sweep[range].map { Float($0 * gains.0) })
        + energy(sweep[range].map { Float($0 * gains.1) })
      let level = decibels(out.reduce(0) { $0 + energy($1[range]) }, over: input)
      #expect(abs(level) < 3.2, "\(gains) at \(start): \(level) dB")
    }
  }

  @Test(arguments: [Float.nan, .infinity, -.infinity, 1e30])
  func invalidSampleAffectsOnlyItsOwnFrame(value: Float) {
    var (l, r) = (noise(24_000), noise(24_000))
    l[12_000] = value
    let out = upmixed(l, r)
    for c in 1..<6 { #expect(out[c].allSatisfy { $0.isFinite }) }
    for (i, x) in out[0].enumerated() where i != 12_000 { #expect(x.isFinite && abs(x) < 2) }
    // The value is passed on, so that the output guard can count it.
    #expect(!(abs(out[0][12_000]) < 1e4))
    r[12_000] = value
    #expect(upmixed(l, r)[2].allSatisfy { $0.isFinite })
  }

  @Test func fastLog2AndExp2AreAccurate() {
    var random = SeededGenerator.forTest()
    for _ in 0..<2000 {
      let x = Float(exp(Double.random(in: -30...30, using: &random)))
      let log = fastLog2(SIMD8(repeating: x))[0]
      #expect(abs(Double(log) - log2(Double(x))) < 2e-4)
      let power = fastExp2(SIMD8(repeating: log))[3]
      #expect(abs(Double(power) / exp2(Double(log)) - 1) < 1e-4)
    }
  }
}
