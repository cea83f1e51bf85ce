// SPDX-License-Identifier: Apache-2.0

import Geometry
import TestSupport
import Testing

@testable import Binaural

@Suite struct MirroredHeadTests {
  /// Makes a set with directions off and on the median plane; the ears have mirrored noise
  /// responses.
  private static func set() -> HRTFSet {
    let taps = 32
    var directions: [SIMD3<Double>] = []
    var left: [[Float]] = []
    var right: [[Float]] = []
    // The directions are dense, so that no gap is filled.
    for v in fibonacciLattice(count: 200) {
      let (near, far) = (noise(taps), noise(taps))
      directions += [v, v * SIMD3(1, -1, 1)]
      left += [near, far]
      right += [far, near]
    }
    let median = noise(taps)
    directions.append(SIMD3(0, 0, 1))
    left.append(median)
    right.append(median)
    return HRTFSet(
      name: "mirror", sampleRate: 48_000, directions: directions, radius: 1, taps: taps,
      impulseResponses: zip(left, right).flatMap { $0 + $1 },
      delays: [Double](repeating: 0, count: 2 * directions.count))
  }

  private static func noise(_ count: Int) -> [Float] {
    (0..<count).map { _ in Float.random(in: -1...1) }
  }

  @Test func mirroredSetIsDetected() {
    #expect(Self.set().isMirrored)
  }

  @Test func asymmetricResponseDelayOrDirectionIsDetected() {
    var random = SeededGenerator.forTest()
    var other = Self.set()
    other.impulseResponses[100] += 0.01
    #expect(!other.isMirrored)
    other = Self.set()
    other.delays[7] = 0.5
    #expect(!other.isMirrored)
    other = Self.set()
    other.directions[4] = randomDirection(using: &random)
    #expect(!other.isMirrored)
  }

  /// Checks that each channel reaches both ears with equal or opposite sign, bit for bit.
  @Test(arguments: DecoderDesign.Method.allCases)
  func filtersOfAMirroredSetAreMirrorImages(method: DecoderDesign.Method) throws {
    let set = Self.set().prepared(sampleRate: 44_100).normalized()
    let filters = try DecoderDesign(method: method, order: 3).filters(for: set)
    for (channel, (left, right)) in zip(filters.left, filters.right).enumerated() {
      let degree = Int(Double(channel).squareRoot())
      let isOdd = channel - degree * degree < degree
      #expect(right == (isOdd ? left.map { -$0 } : left), "channel \(channel)")
    }
  }

  /// Checks that the mirrored filters of the right ear match a design of its own.
  @Test func mirroredFiltersMatchASeparateDesign() throws {
    let set = Self.set()
    let filters = try DecoderDesign(method: .leastSquares, order: 3).filters(for: set)
    var other = set
    other.impulseResponses[100] += 0.001
    let own = try DecoderDesign(method: .leastSquares, order: 3).filters(for: other)
    var (rest, energy) = (0.0, 0.0)
    for (a, b) in zip(filters.right.joined(), own.right.joined()) {
      rest += Double(a - b) * Double(a - b)
      energy += Double(b) * Double(b)
    }
    #expect(rest < 1e-3 * energy)
  }
}
