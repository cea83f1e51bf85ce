// SPDX-License-Identifier: Apache-2.0

import Glibc
import SignalProcessing
import TestSupport
import Testing

/// Compares parametric filters with their analogue prototypes.
@Suite struct ParametricFilterTests {
  private static let rate = 48_000.0

  /// Returns the magnitude of the prototype at s = i tan(w / 2) / tan(w0 / 2), to which the
  /// bilinear transform maps the frequency.
  private func prototype(_ filter: ParametricFilter, _ frequency: Double) -> Double {
    let x = tan(.pi * frequency / Self.rate) / tan(.pi * filter.frequency / Self.rate)
    let (q, a) = (filter.quality, pow(10, filter.gain / 40))
    // Returns the magnitude of a complex number; s = i x, so s^2 = -x^2.
    func size(_ re: Double, _ im: Double) -> Double { hypot(re, im) }
    let square = x * x
    return switch filter.kind {
    case .peak: size(1 - square, x * a / q) / size(1 - square, x / (a * q))
    case .lowPass: 1 / size(1 - square, x / q)
    case .highPass: square / size(1 - square, x / q)
    case .notch: abs(1 - square) / size(1 - square, x / q)
    case .lowShelf:
      a * size(a - square, x * a.squareRoot() / q) / size(1 - a * square, x * a.squareRoot() / q)
    case .highShelf:
      a * size(1 - a * square, x * a.squareRoot() / q) / size(a - square, x * a.squareRoot() / q)
    }
  }

  @Test(arguments: ParametricFilter.Kind.allCases)
  func responseMatchesTheAnaloguePrototype(kind: ParametricFilter.Kind) throws {
    var random = SeededGenerator.forTest()
    for _ in 0..<50 {
      let filter = ParametricFilter(
        kind, frequency: exp(.random(in: log(20.0)...log(20_000), using: &random)),
        gain: .random(in: -24...24, using: &random),
        quality: exp(.random(in: log(0.2)...log(10), using: &random)))
      let biquad = try #require(filter.biquad(sampleRate: Self.rate))
      for _ in 0..<50 {
        let frequency = exp(Double.random(in: log(10.0)...log(23_000), using: &random))
        let truth = prototype(filter, frequency)
        guard truth > 1e-3 else { continue }
        let found = biquad.response(at: frequency, sampleRate: Self.rate).squaredMagnitude
        #expect(abs(10 * log10(found) - 20 * log10(truth)) < 0.001, "\(filter) \(frequency)")
      }
      // The filter is stable and already has minimum phase.
      #expect(abs(biquad.a2) < 1 && abs(biquad.a1) < 1 + biquad.a2)
      #expect(abs(biquad.minimumPhase.b0 - biquad.b0) < 1e-9 * abs(biquad.b0))
    }
  }

  @Test func filterAtTheNyquistFrequencyIsOmitted() {
    let filter = ParametricFilter(.peak, frequency: 12_000, gain: 3, quality: 1)
    #expect(filter.biquad(sampleRate: 24_000) == nil)
    #expect(filter.biquad(sampleRate: 48_000) != nil)
  }

  @Test func minimumPhaseReflectsRootsAndKeepsMagnitudes() {
    var random = SeededGenerator.forTest()
    for index in 0..<300 {
      func number() -> Double { Double.random(in: -3...3, using: &random) }
      let original = Biquad(
        b0: index % 5 == 0 ? 0 : number(), b1: number(), b2: number(), a1: number(), a2: number())
      let reflected = original.minimumPhase
      #expect(abs(reflected.a2) <= 1 + 1e-9 && abs(reflected.a1) <= 1 + reflected.a2 + 1e-9)
      #expect(
        abs(reflected.b2) <= abs(reflected.b0) * (1 + 1e-9)
          && abs(reflected.b1) <= abs(reflected.b0 + reflected.b2) * (1 + 1e-9) + 1e-9)
      for frequency in [0.0, 100, 3000, 11_000, 24_000] {
        let before = original.response(at: frequency, sampleRate: Self.rate).squaredMagnitude
        let after = reflected.response(at: frequency, sampleRate: Self.rate).squaredMagnitude
        #expect(abs(10 * log10(after / before)) < 1e-4, "\(original)")
      }
    }
  }

  /// The length of the response depends on its decay, and at most the permitted energy is cut off.
  @Test func truncatedResponseLosesAtMostTheResidue() throws {
    let sections = try [
      ParametricFilter(.lowShelf, frequency: 40, gain: 9, quality: 0.9),
      ParametricFilter(.peak, frequency: 2000, gain: -6, quality: 3),
    ].map { try #require($0.biquad(sampleRate: Self.rate)) }
    let whole = impulseResponse(of: sections, residue: 0, limit: 200_000)
    let short = impulseResponse(of: sections, residue: 1e-9, limit: 200_000)
    #expect((1000...20_000).contains(short.count))
    #expect(Array(whole[..<short.count]) == short)
    let rest = whole[short.count...].reduce(0) { $0 + $1 * $1 }
    let all = whole.reduce(0) { $0 + $1 * $1 }
    #expect(10 * log10(rest / all) <= -90)
    // The spectrum is the product of those of the sections.
    for frequency in [20.0, 100, 2000, 15_000] {
      var (re, im) = (0.0, 0.0)
      for (n, x) in short.enumerated() {
        re += x * cos(2 * .pi * frequency * Double(n) / Self.rate)
        im -= x * sin(2 * .pi * frequency * Double(n) / Self.rate)
      }
      let truth = sections.reduce(1.0) {
        $0 * $1.response(at: frequency, sampleRate: Self.rate).squaredMagnitude
      }
      #expect(abs(10 * log10((re * re + im * im) / truth)) < 0.05)
    }
  }
}

/// Tests filters in series, and the same filter for two channels.
@Suite struct FilterFoldingTests {
  private func noise(_ count: Int) -> [Float] { (0..<count).map { _ in .random(in: -1...1) } }

  private func convolve(_ a: [Float], _ b: [Float]) -> [Double] {
    var sum = [Double](repeating: 0, count: a.count + b.count - 1)
    for (i, x) in a.enumerated() {
      for (j, y) in b.enumerated() { sum[i + j] += Double(x) * Double(y) }
    }
    return sum
  }

  private func decibels(_ a: [Float], _ truth: some Sequence<Double>) -> Double {
    var (error, energy) = (0.0, 0.0)
    for (x, y) in zip(a, truth) {
      error += (Double(x) - y) * (Double(x) - y)
      energy += y * y
    }
    return 10 * log10(error / energy + 1e-30)
  }

  @Test(arguments: [1, 2, 37, 500])
  func foldingEqualsConvolution(taps: Int) {
    let (filters, fir) = ([noise(300), noise(300)], noise(taps))
    let result = folded(filters, with: fir)
    #expect(result.count == 2)
    for (found, filter) in zip(result, filters) {
      #expect(found.count == 300 + taps - 1)
      #expect(decibels(found, convolve(filter, fir)) < -110)
    }
  }

  @Test(arguments: [[64], [1, 100, 777, 13]])
  func stereoFilterConvolvesBothChannels(sizes: [Int]) {
    let (taps, frames) = (noise(700), 3000)
    let filter = StereoFilter(taps, partition: 64)
    #expect(filter.tailFrames == 699)
    let input = [noise(frames), noise(frames)]
    let signal = PlanarSignal(input)
    signal.forEachPiece(of: sizes) { planes, count in
      filter.process(planes[0], planes[1], frames: count)
    }
    for c in 0..<2 {
      #expect(decibels(signal.arrays[c], convolve(input[c], taps).prefix(frames)) < -110)
    }
    filter.reset()
    let silence = PlanarSignal(channelCount: 2, frames: 100)
    filter.process(silence[0], silence[1], frames: 100)
    #expect(silence.arrays.joined().allSatisfy { $0 == 0 })
  }

  @Test func filterWithoutTapsPassesTheSignalUnchanged() {
    let filter = StereoFilter(nil, partition: 64)
    let input = [noise(100), noise(100)]
    let signal = PlanarSignal(input)
    filter.process(signal[0], signal[1], frames: 100)
    #expect(signal.arrays == input)
    #expect(filter.tailFrames == 0)
  }
}
