// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Binaural

@Suite("Limits of HRTF sets")
struct HRTFLimitTests {
  private static func set(
    directions: [SIMD3<Double>] = fibonacciLattice(count: 100), taps: Int, rate: Double = 48_000,
    delay: Double = 0, _ sample: (Int) -> Float
  ) -> HRTFSet {
    let one = (0..<taps).map(sample)
    return HRTFSet(
      name: "made", sampleRate: rate, directions: directions, radius: 1, taps: taps,
      impulseResponses: directions.flatMap { _ in one + one },
      delays: [Double](repeating: delay, count: 2 * directions.count))
  }

  @Test("Long responses are cut off, faded out and mentioned")
  func longResponsesAreCutOff() throws {
    let set = Self.set(taps: 20_000) { n in n % 7 == 0 ? 0.1 : 0 }
    let limited = try set.limited()
    #expect(limited.taps == 3000)
    #expect(limited.notes.count == 1)
    #expect(limited.notes[0].contains("20000 samples"))
    #expect(limited.notes[0].contains("first 3000 (62.5 ms)"))
    #expect(limited.notes[0].contains("15.0 %"))
    for n in 0..<2800 {
      #expect(limited.impulseResponses[n] == set.impulseResponses[n])
    }
    #expect(abs(limited.impulseResponses[2996]) < 1e-3)
  }

  @Test("Silent ends are cut off without a note")
  func silentEndsAreCutOffWithoutANote() throws {
    let limited = try Self.set(taps: 20_000) { $0 == 40 ? 1 : 0 }.limited()
    #expect(limited.taps == 3000)
    #expect(limited.notes == [])
  }

  @Test("Long delays are refused, and others leave less room for the response")
  func longDelaysAreRefused() throws {
    let error = #expect(throws: HRTFError.self) {
      try Self.set(taps: 64, delay: 4800) { _ in 0.1 }.limited()
    }
    #expect(error?.description.contains("100.0 ms; at most 31.3 ms") == true)
    let limited = try Self.set(taps: 3000, delay: 480) { _ in 0.1 }.limited()
    #expect(limited.taps == 2520)
  }

  @Test("Levels beyond 60 dB are refused", arguments: [-800.0, -70, -50, 0, 50, 70, 300])
  func levelsBeyond60DecibelsAreRefused(level: Double) throws {
    let amplitude = Float(pow(10, level / 20))
    let set = Self.set(taps: 64) { $0 == 20 ? amplitude : 0 }
    if abs(level) < 60 {
      #expect(try set.limited().taps == 64)
    } else {
      let error = #expect(throws: HRTFError.self) { try set.limited() }
      #expect(error?.description.contains("diffuse-field level is") == true)
    }
  }

  @Test("Large sets are thinned out evenly")
  func largeSetsAreThinnedOutEvenly() throws {
    let set = Self.set(directions: fibonacciLattice(count: 40_000), taps: 16) { $0 == 2 ? 1 : 0 }
    let limited = try set.limited()
    #expect((14_000...HRTFLimit.directions).contains(limited.directions.count))
    #expect(limited.notes.count == 1)
    #expect(limited.impulseResponses.count == limited.directions.count * 32)
    let cells = SphericalVoronoi(limited.directions)
    #expect(cells.largestGap < 2.5 * SphericalVoronoi(set.directions).largestGap)
  }

  @Test("Preparing for a much higher rate takes bounded memory")
  func preparingTakesBoundedMemory() {
    let directions = fibonacciLattice(count: 2000)
    let set = Self.set(directions: directions, taps: 500, rate: 8000) { _ in 0.1 }
    let prepared = set.prepared(sampleRate: 384_000)
    #expect(prepared.impulseResponses.count <= HRTFLimit.preparedSamples)
    #expect(prepared.directions.count > 1000)
    #expect(prepared.delays.count == 2 * prepared.directions.count)
  }

  @Test("Designed filters are checked before they are used")
  func designedFiltersAreChecked() {
    let one: [Float] = [1] + [Float](repeating: 0, count: 63)
    func filters(_ gain: Float) -> BinauralFilters {
      let ear = [one.map { $0 * gain }] + [[Float]](repeating: one.map { _ in 0 }, count: 3)
      return BinauralFilters(order: 1, sampleRate: 48_000, left: ear, right: ear)
    }
    #expect(abs(filters(1).diffuseFieldLevelDecibels) < 1e-6)
    #expect(filters(1).designFault == nil)
    #expect(filters(100).designFault?.contains("40.0 dB; -12 to 12 dB are supported") == true)
    #expect(filters(0).designFault != nil)
    #expect(filters(.nan).designFault?.contains("not finite") == true)
    #expect(filters(.infinity).designFault?.contains("not finite") == true)
  }

  @Test("All methods and orders give the expected level", arguments: DecoderDesign.Method.allCases)
  func designsHaveTheExpectedLevel(method: DecoderDesign.Method) throws {
    let set = try SofaLoader().load(HRTFFixtures.shared.path("plain"))
    for order in [1, 3, 5] {
      for equalisation in DecoderDesign.Equalisation.allCases {
        let design = DecoderDesign(method: method, order: order, equalisation: equalisation)
        let level = try design.filters(for: set, sampleRate: 48_000, cache: nil)
          .diffuseFieldLevelDecibels
        #expect(abs(level) < 3, "\(method) \(order) \(equalisation): \(level) dB")
      }
    }
  }
}
