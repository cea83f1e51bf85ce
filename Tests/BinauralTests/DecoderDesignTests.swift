// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Geometry
import Glibc
import SignalProcessing
import TestSupport
import Testing

@testable import Binaural

/// Compares decoders with the set that they were designed from: a head with known theory.
@Suite struct DecoderDesignTests {
  static let sphere = RigidSphereHead().hrtfSet(sampleRate: 48000).prepared(sampleRate: 48000)
    .normalized()

  static func design(
    _ order: Int, _ method: DecoderDesign.Method = .magnitudeLeastSquares,
    _ equalisation: DecoderDesign.Equalisation = .none
  ) throws -> BinauralFilters {
    try DecoderDesign(method: method, order: order, equalisation: equalisation)
      .filters(for: sphere)
  }

  /// Returns the response of an ear to a plane wave from `v`.
  static func response(_ filters: [[Float]], to v: SIMD3<Double>, order: Int) -> [Double] {
    let gains = SphericalHarmonics.evaluate(order: order, v)
    return filters[0].indices.map { n in
      gains.indices.reduce(0.0) { $0 + gains[$1] * Double(filters[$1][n]) }
    }
  }

  /// Returns the levels of third-octave bands from `low` Hz on, in dB.
  static func bands(_ response: [Double], from low: Double = 200) -> [Double] {
    let size = 4096
    let spectrum = magnitudes(response, size: size)
    let width = 48000.0 / Double(size)
    let centres: [Double] = (0..<20).map { low * pow(2, Double($0) / 3) }
    return centres.filter { $0 < 16000 }.map { centre -> Double in
      let (from, to) = (Int(centre * 0.89 / width), Int((centre * 1.12 / width).rounded(.up)))
      let energy: Double = spectrum[from...to].reduce(0) { $0 + $1 * $1 }
      return 10 * log10(energy / Double(to - from + 1))
    }
  }

  static func magnitudes(_ response: [Double], size: Int) -> [Double] {
    let fft = RealFFT(size: size)
    let time = AlignedFloats(count: size)
    let re = AlignedFloats(count: fft.bins)
    let im = AlignedFloats(count: fft.bins)
    for (i, x) in response.prefix(size).enumerated() { time.pointer[i] = Float(x) }
    fft.forward(time.pointer, real: re.pointer, imaginary: im.pointer)
    return (0..<fft.bins).map { k in
      Double(re.pointer[k] * re.pointer[k] + im.pointer[k] * im.pointer[k]).squareRoot()
    }
  }

  /// Returns the mean error of band levels over directions of the set and both ears, in dB.
  static func magnitudeError(_ filters: BinauralFilters) -> Double {
    var (sum, count) = (0.0, 0)
    for d in stride(from: 0, to: sphere.directions.count, by: 37) {
      let v = sphere.directions[d]
      for (ear, rows) in [filters.left, filters.right].enumerated() {
        let truth = bands(sphere.impulseResponse(direction: d, ear: ear).map(Double.init))
        let ours = bands(response(rows, to: v, order: filters.order))
        for (a, b) in zip(ours, truth) {
          sum += abs(a - b)
          count += 1
        }
      }
    }
    return sum / Double(count)
  }

  @Test func magnitudeErrorDecreasesWithOrder() throws {
    let errors = try [1, 3, 5, 7].map { Self.magnitudeError(try Self.design($0)) }
    #expect(errors == errors.sorted(by: >))
    #expect(errors[0] < 2.5)
    #expect(errors[3] < 0.5)
  }

  @Test func magnitudeLeastSquaresBeatsLeastSquaresAtLowOrders() throws {
    for order in [1, 3] {
      let magnitude = Self.magnitudeError(try Self.design(order))
      let complex = Self.magnitudeError(try Self.design(order, .leastSquares))
      #expect(magnitude < 0.8 * complex)
    }
  }

  /// Checks that the decoder's diffuse field has the set's level in every band.
  @Test(arguments: [1, 2, 4, 7], DecoderDesign.Method.allCases)
  func decoderPreservesTheDiffuseFieldSpectrum(order: Int, method: DecoderDesign.Method) throws {
    let filters = try Self.design(order, method)
    let directions = fibonacciLattice(count: 200)
    func mean(_ rows: [[Float]]) -> [Double] {
      let energies = directions.map { v in
        Self.bands(Self.response(rows, to: v, order: order)).map { pow(10, $0 / 10) }
      }
      return energies[0].indices.map { b in
        energies.reduce(0) { $0 + $1[b] } / Double(directions.count)
      }
    }
    let (left, right) = (mean(filters.left), mean(filters.right))
    var truth = [Double](repeating: 0, count: left.count)
    let weights = Self.sphere.areaWeights
    for d in Self.sphere.directions.indices {
      for ear in 0...1 {
        let levels = Self.bands(
          Self.sphere.impulseResponse(direction: d, ear: ear).map(Double.init))
        for b in truth.indices { truth[b] += weights[d] * pow(10, levels[b] / 10) }
      }
    }
    // Above 8 kHz, first-order least squares loses more than the 20 dB that the design restores.
    for b in truth.indices.prefix(method == .leastSquares ? 16 : truth.count) {
      #expect(abs(10 * log10((left[b] + right[b]) / truth[b])) < 0.3)
    }
  }

  /// Checks that the flattened set's diffuse field varies by less than 1 dB over 200 Hz to 12 kHz.
  @Test func diffuseEqualisationFlattensTheDiffuseField() throws {
    let filters = try Self.design(3, .magnitudeLeastSquares, .diffuse)
    let directions = fibonacciLattice(count: 200)
    var energy: [Double] = []
    for v in directions {
      for rows in [filters.left, filters.right] {
        let levels = Self.bands(Self.response(rows, to: v, order: 3)).map { pow(10, $0 / 10) }
        energy = energy.isEmpty ? levels : zip(energy, levels).map { $0 + $1 }
      }
    }
    let levels = energy.map { 10 * log10($0 / Double(2 * directions.count)) }
    #expect((levels.max() ?? 0) - (levels.min() ?? 0) < 1)
  }

  /// Checks that a frontal impulse arrives `delaySeconds` later than in the set, for every order
  /// and method.
  @Test(arguments: 1...7, DecoderDesign.Method.allCases)
  func delayIsTheSameForEveryOrderAndMethod(order: Int, method: DecoderDesign.Method) throws {
    let filters = try Self.design(order, method)
    let front = Self.sphere.nearestDirection(to: SIMD3(1, 0, 0))
    let v = Self.sphere.directions[front]
    let ours = Self.groupDelay(Self.response(filters.left, to: v, order: order))
    let truth = Self.groupDelay(
      Self.sphere.impulseResponse(direction: front, ear: 0).map(Double.init))
    #expect(abs(ours - truth - BinauralFilters.delaySeconds) < 60e-6)
  }

  /// Returns the group delay in seconds, from the phase slope between 300 and 1000 Hz.
  static func groupDelay(_ response: [Double]) -> Double {
    func transform(_ hertz: Double) -> Complex {
      var sum = Complex(0)
      for (n, x) in response.enumerated() {
        sum += Complex(angle: -2 * .pi * hertz * Double(n) / 48000) * x
      }
      return sum
    }
    var slope = Complex(0)
    for hertz in stride(from: 300.0, to: 1000, by: 20) {
      slope += transform(hertz + 20) * transform(hertz).conjugate
    }
    return -slope.angle / (2 * .pi * 20)
  }

  @Test func symmetricHeadGivesMirroredFilters() throws {
    let filters = try Self.design(3)
    for c in filters.left.indices {
      // Channels with negative m change sign if y is mirrored.
      let l = SphericalHarmonics.degree(ofChannel: c)
      let sign: Float = c - l * l - l < 0 ? -1 : 1
      let difference = zip(filters.left[c], filters.right[c]).map { abs($0 - sign * $1) }
      #expect((difference.max() ?? 0) < 2e-3)
    }
  }

  @Test func setOfFourDirectionsGivesFiniteFilters() throws {
    let few = HRTFSet(
      name: "four", sampleRate: 48000,
      directions: [SIMD3(1, 0, 0), SIMD3(-1, 0, 0), SIMD3(0, 1, 0), SIMD3(0, -1, 0)], radius: 1,
      taps: 8, impulseResponses: [Float](repeating: 0.1, count: 64),
      delays: [Double](repeating: 0, count: 8))
    // A model of low order fills the gaps, so even this set is usable.
    let filters = try DecoderDesign(order: 1).filters(for: few)
    let isFinite = filters.left.joined().allSatisfy { $0.isFinite }
    #expect(isFinite)
  }
}
