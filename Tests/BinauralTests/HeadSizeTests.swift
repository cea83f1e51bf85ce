// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Glibc
import TestSupport
import Testing

@testable import Binaural

/// Tests interaural delays and sets for heads of other sizes.
@Suite struct HeadSizeTests {
  private static func sphere(_ radius: Double) -> HRTFSet {
    var head = RigidSphereHead()
    head.headRadius = radius
    head.ringSpacing = 10
    head.earAzimuth = 90
    return head.hrtfSet(sampleRate: 48000)
  }

  /// Returns the interaural delay in seconds, positive if the left ear is earlier: the mean of the
  /// phase delays at some frequencies.
  private func delay(_ set: HRTFSet, _ direction: Int, _ frequencies: [Double]) -> Double {
    frequencies.reduce(0) { sum, frequency in
      let (l, r) = (
        transfer(
          set.impulseResponse(direction: direction, ear: 0), delay: set.delays[2 * direction],
          sampleRate: set.sampleRate, frequency: frequency),
        transfer(
          set.impulseResponse(direction: direction, ear: 1), delay: set.delays[2 * direction + 1],
          sampleRate: set.sampleRate, frequency: frequency)
      )
      let angle = atan2(l.im * r.re - l.re * r.im, l.re * r.re + l.im * r.im)
      return sum + angle / (2 * .pi * frequency) / Double(frequencies.count)
    }
  }

  @Test(arguments: [0.07, 0.0875, 0.1])
  func estimatedRadiusMatchesTheSphere(radius: Double) throws {
    let found = try #require(HeadSize(of: Self.sphere(radius)))
    #expect(abs(found.radius / radius - 1) < 0.02, "\(found.radius)")
    #expect(abs(found.circumference - 2 * .pi * found.radius) < 1e-12)
  }

  @Test func setWithoutInterauralDelaysHasNoSize() {
    let set = Self.sphere(0.0875)
    var withoutDelays = set
    for d in set.directions.indices {
      let ear = set.impulseResponse(direction: 0, ear: 0)
      withoutDelays.impulseResponses.replaceSubrange(
        2 * d * set.taps..<2 * (d + 1) * set.taps, with: ear + ear)
    }
    #expect(HeadSize(of: withoutDelays) == nil)
  }

  /// Checks that the delays of a scaled set are `factor` times its own and match those of a sphere
  /// of that size.
  @Test(arguments: [0.85, 1.0 / 1.1, 1.1, 1.2])
  func scaledDelaysMatchASphereOfThatSize(factor: Double) {
    let set = Self.sphere(0.0875)
    let scaled = set.withInterauralDelays(scaledBy: factor)
    let truth = Self.sphere(0.0875 * factor)
    for d in set.directions.indices where abs(set.directions[d].y) > 0.2 {
      let low = [300.0, 400, 500]
      let (own, now) = (delay(set, d, low), delay(scaled, d, low))
      #expect(abs(now / own / factor - 1) < 0.03, "\(set.directions[d]) \(now / own)")
      // At the far ear, opposite the source, waves arrive from all sides and interfere.
      guard abs(set.directions[d].y) < 0.9 else { continue }
      for (frequency, share) in [(300.0, 0.04), (500, 0.04), (800, 0.1), (1500, 0.1), (4000, 0.1)] {
        let off = difference(scaled, truth, d, frequency)
        #expect(abs(off) < share * abs(now), "\(set.directions[d]) \(frequency) \(off / now)")
      }
    }
  }

  /// Returns the difference of the interaural delays of two sets at a frequency, in seconds.
  private func difference(_ a: HRTFSet, _ b: HRTFSet, _ d: Int, _ frequency: Double) -> Double {
    let angles = [a, b].map { set -> Double in
      let ears = (0...1).map { ear -> Double in
        let value = transfer(
          set.impulseResponse(direction: d, ear: ear), delay: set.delays[2 * d + ear],
          sampleRate: set.sampleRate, frequency: frequency)
        return atan2(value.im, value.re)
      }
      return ears[0] - ears[1]
    }
    let turns = (angles[0] - angles[1]) / (2 * .pi)
    return (turns - turns.rounded()) / frequency
  }

  @Test func delaysOfAMeasuredHeadAreScaled() throws {
    let set = try SofaLoader().load(try defaultSofa())
    let before = InterauralDelays(set).seconds
    let scaled = set.withInterauralDelays(scaledBy: 1.15).prepared(sampleRate: 48000)
    let after = InterauralDelays(scaled).seconds
    for (a, b) in zip(before, after) where abs(a) > 100e-6 {
      #expect(abs(b / a / 1.15 - 1) < 0.03)
    }
    let (own, other) = (try #require(HeadSize(of: set)), try #require(HeadSize(of: scaled)))
    #expect(abs(other.circumference / own.circumference - 1.15) < 0.03 * 1.15)
    #expect(set.isMirrored == scaled.isMirrored)
  }

  @Test func scalingDelaysPreservesMagnitudes() throws {
    let set = try SofaLoader().load(try defaultSofa())
    let scaled = set.withInterauralDelays(scaledBy: 1.2)
    var worst = 0.0
    for d in stride(from: 0, to: set.directions.count, by: 23) {
      for ear in 0...1 {
        for frequency in [100.0, 300, 1000, 1700, 2500, 4000, 8000, 12_000, 16_000] {
          let levels = [set, scaled].map { set -> Double in
            let value = transfer(
              set.impulseResponse(direction: d, ear: ear), sampleRate: set.sampleRate,
              frequency: frequency)
            return 20 * log10(hypot(value.re, value.im))
          }
          worst = max(worst, abs(levels[0] - levels[1]))
        }
      }
    }
    #expect(worst < 0.1, "\(worst) dB")
  }

  @Test func decoderReproducesTheScaledDelays() throws {
    let set = Self.sphere(0.0875).normalized()
    let scaled = set.withInterauralDelays(scaledBy: 1.2).prepared(sampleRate: 48000)
    let design = DecoderDesign(order: 5)
    let source = SIMD3(0.6, 0.8, 0)
    func delays(_ filters: BinauralFilters) -> Double {
      let gains = SphericalHarmonics.evaluate(order: 5, source)
      func ear(_ filters: [[Float]]) -> ArraySlice<Float> {
        var sum = [Float](repeating: 0, count: filters[0].count)
        for (g, filter) in zip(gains, filters) {
          for n in sum.indices { sum[n] += Float(g) * filter[n] }
        }
        return sum[...]
      }
      let (l, r) = (ear(filters.left), ear(filters.right))
      return [300.0, 400, 500].reduce(0) { sum, f in
        let a = transfer(l, sampleRate: 48000, frequency: f)
        let b = transfer(r, sampleRate: 48000, frequency: f)
        return sum + atan2(a.im * b.re - a.re * b.im, a.re * b.re + a.im * b.im) / (2 * .pi * f * 3)
      }
    }
    let ratio = try delays(design.filters(for: scaled)) / delays(design.filters(for: set))
    #expect(abs(ratio / 1.2 - 1) < 0.03, "\(ratio)")
  }

  @Test func eachHeadSizeHasItsOwnCacheKey() {
    let set = Self.sphere(0.0875)
    let keys = [1.0, 1.05, 1.1].map {
      DesignKey(set: set.withInterauralDelays(scaledBy: $0), sampleRate: 48000, settings: "x").name
    }
    #expect(Set(keys).count == 3)
  }
}
