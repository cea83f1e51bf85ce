// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Glibc
import SignalProcessing
import Synchronization
import TestSupport
import Testing

@testable import Binaural

/// Tests the defining properties of the design methods other than plain magnitude least squares.
@Suite struct DecoderMethodTests {
  private func randomEars(_ channels: Int) -> EarCoefficients {
    func ear() -> [Complex] {
      (0..<channels).map { _ in Complex(.random(in: -1...1), .random(in: -1...1)) }
    }
    return EarCoefficients(left: ear(), right: ear())
  }

  @Test func constrainedDecoderHasTheTargetCovariance() {
    for channels in [4, 9, 16, 64] {
      let target = EarCovariance(randomEars(channels))
      let result = EarCovariance(randomEars(channels).constrained(to: target))
      let scale = target.left + target.right
      #expect(abs(result.left - target.left) < 1e-7 * scale)
      #expect(abs(result.right - target.right) < 1e-7 * scale)
      #expect((result.cross + target.cross * -1).squaredMagnitude < 1e-13 * scale * scale)
    }
  }

  @Test func constrainingToItsOwnCovarianceChangesNothing() {
    let decoder = randomEars(9)
    let result = decoder.constrained(to: EarCovariance(decoder))
    for (a, b) in zip(decoder.left + decoder.right, result.left + result.right) {
      #expect((a + b * -1).squaredMagnitude < 1e-12)
    }
  }

  /// Checks that silence in an ear, or the same signal in both, gives finite coefficients.
  @Test func degenerateDecoderStaysFinite() {
    let one = randomEars(4)
    let nothing = [Complex](repeating: Complex(0), count: 4)
    for decoder in [
      EarCoefficients(left: one.left, right: one.left),
      EarCoefficients(left: one.left, right: nothing),
      EarCoefficients(left: nothing, right: nothing),
    ] {
      let result = decoder.constrained(to: EarCovariance(one))
      #expect((result.left + result.right).allSatisfy { $0.re.isFinite && $0.im.isFinite })
    }
  }

  /// Returns the mean error of the interaural coherence in diffuse sound over 200 Hz to 8 kHz.
  private func coherenceError(_ filters: BinauralFilters) -> Double {
    let set = DecoderDesignTests.sphere
    let size = 1024
    func spectra(_ rows: [[Float]]) -> [[Complex]] {
      let fft = RealFFT(size: size)
      let time = AlignedFloats(count: size)
      let re = AlignedFloats(count: size)
      let im = AlignedFloats(count: size)
      return rows.map { row in
        time.clear()
        for (n, x) in row.prefix(size).enumerated() { time.pointer[n] = x }
        fft.forward(time.pointer, real: re.pointer, imaginary: im.pointer)
        return (0..<fft.bins).map { Complex(Double(re.pointer[$0]), Double(im.pointer[$0])) }
      }
    }
    let weights = set.areaWeights
    func response(_ d: Int, _ ear: Int) -> [Float] {
      Array(set.impulseResponse(direction: d, ear: ear))
    }
    let truth = (0...1).map { ear in spectra(set.directions.indices.map { response($0, ear) }) }
    let ours = [spectra(filters.left), spectra(filters.right)]
    var (sum, count) = (0.0, 0)
    for k in (size * 200 / 48000)...(size * 8000 / 48000) {
      func coherence(_ ears: [[[Complex]]], _ weight: (Int) -> Double) -> Double {
        var (left, right, cross) = (0.0, 0.0, 0.0)
        for i in ears[0].indices {
          let (l, r) = (ears[0][i][k], ears[1][i][k])
          left += weight(i) * l.squaredMagnitude
          right += weight(i) * r.squaredMagnitude
          cross += weight(i) * (l * r.conjugate).re
        }
        return cross / (left * right).squareRoot()
      }
      let own = coherence(ours) { 1 / pow(SphericalHarmonics.n3dOverSN3D(channel: $0), 2) }
      sum += abs(own - coherence(truth) { weights[$0] })
      count += 1
    }
    return sum / Double(count)
  }

  @Test func covarianceConstraintPreservesInterauralCoherence() throws {
    let unconstrained = coherenceError(try DecoderDesignTests.design(1))
    let constrained = coherenceError(try DecoderDesignTests.design(1, .covarianceConstrained))
    #expect(unconstrained > 0.1)
    #expect(constrained < 0.02)
  }

  @Test func interpolationIsExactForLinearFunctions() {
    var random = SeededGenerator.forTest()
    let directions = fibonacciLattice(count: 400)
    let between = SphericalInterpolation(directions)
    for _ in 0..<100 {
      let v = randomDirection(using: &random)
      let shares = between.weights(at: v)
      #expect(abs(shares.reduce(0) { $0 + $1.weight } - 1) < 1e-12)
      #expect(shares.allSatisfy { $0.weight >= 0 })
      let mean = shares.reduce(SIMD3<Double>.zero) { $0 + directions[$1.direction] * $1.weight }
      // The mean is in the plane of the corners, in the same direction as v.
      #expect((mean / mean.length * v).sum() > 1 - 1e-9)
    }
    #expect(between.weights(at: directions[7]).map(\.direction) == [7])
  }

  @Test func cancelledDesignThrowsInterrupted() {
    let checks = Atomic<Int>(0)
    #expect(throws: HRTFError.interrupted) {
      try DecoderDesign(order: 3).filters(for: DecoderDesignTests.sphere) {
        checks.add(1, ordering: .relaxed).newValue > 40
      }
    }
  }
}
