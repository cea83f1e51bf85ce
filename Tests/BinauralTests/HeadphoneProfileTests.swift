// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Geometry
import Glibc
import SignalProcessing
import TestSupport
import Testing

@testable import Binaural

/// Tests headphone equalisers in the filters of the decoders.
@Suite struct HeadphoneProfileTests {
  static let profile = HeadphoneProfile(
    name: "test",
    filters: [
      ParametricFilter(.lowShelf, frequency: 105, gain: 6, quality: 0.71),
      ParametricFilter(.peak, frequency: 3000, gain: -7, quality: 1.4),
      ParametricFilter(.highShelf, frequency: 9000, gain: 4, quality: 0.7),
    ])
  private static let rate = 48_000.0
  private static let set = DecoderDesignTests.sphere

  private func convolve(_ a: [Float], _ b: [Float]) -> [Double] {
    var sum = [Double](repeating: 0, count: a.count + b.count - 1)
    for (i, x) in a.enumerated() where x != 0 {
      for (j, y) in b.enumerated() { sum[i + j] += Double(x) * Double(y) }
    }
    return sum
  }

  /// Compares a decoder that includes the equaliser with a decoder followed by the equaliser.
  @Test func equalisedDecoderEqualsDecoderThenEqualiser() throws {
    let taps = Self.profile.taps(sampleRate: Self.rate, field: DiffuseField(Self.set))
    let plain = try DecoderDesign(order: 2).filters(for: Self.set)
    let folded = plain.equalised(by: taps)
    #expect(folded.taps == plain.taps + taps.count - 1)
    let frames = 6000
    func play(_ filters: BinauralFilters, _ x: PlanarSignal) -> [[Float]] {
      let decoder = BinauralDecoder(filters: filters, partition: 128)
      let ears = PlanarSignal(channelCount: 2, frames: frames)
      let grid = PoseGrid(longestCall: frames)
      let poses = grid.points(forNext: frames).map {
        YawPitchRoll(yaw: Double($0), pitch: 3, roll: 0).quaternion
      }
      decoder.process(
        input: x.channels, frames: frames, poses: grid.take(poses, forNext: frames),
        left: ears[0], right: ears[1])
      return ears.arrays
    }
    let x = PlanarSignal(channelCount: 9, frames: frames) { _, n in
      n < 3000 ? .random(in: -1...1) : 0
    }
    let (found, before) = (play(folded, x), play(plain, x))
    for ear in 0..<2 {
      #expect(decibels(found[ear], convolve(before[ear], taps)) < -80)
    }
  }

  @Test func equalisedDirectDecoderEqualsDecoderThenEqualiser() throws {
    let taps = Self.profile.taps(sampleRate: Self.rate, field: .flat)
    let plain = BinauralFilters(
      direct: try DirectDesign().bank(for: Self.set), sampleRate: Self.rate)
    let folded = plain.equalised(by: taps)
    func play(_ filters: BinauralFilters) -> [[Float]] {
      let decoder = BinauralDecoder(
        filters: filters, speakers: [SIMD3(0.6, 0.8, 0)], partition: 64)
      let x = PlanarSignal(channelCount: 1, frames: 4000) { $1 == 0 ? 1 : 0 }
      let ears = PlanarSignal(channelCount: 2, frames: 4000)
      let grid = PoseGrid(longestCall: 4000)
      let poses = grid.points(forNext: 4000).map { _ in Quaternion.identity }
      decoder.process(
        input: x.channels, frames: 4000, poses: grid.take(poses, forNext: 4000), left: ears[0],
        right: ears[1])
      return ears.arrays
    }
    let (found, before) = (play(folded), play(plain))
    for ear in 0..<2 {
      #expect(decibels(found[ear], convolve(Array(before[ear].prefix(1200)), taps)) < -80)
    }
  }

  /// Checks that the level, as defined for sets, stays the same, however loud the filters are.
  @Test(arguments: [0.0, 20])
  func equaliserPreservesTheDiffuseFieldLevel(gain: Double) throws {
    var profile = Self.profile
    profile.filters.append(.init(.peak, frequency: 900, gain: gain, quality: 0.5))
    let set = Self.set
    let taps = profile.taps(sampleRate: Self.rate, field: DiffuseField(set))
    var filtered = set
    filtered.taps = set.taps + taps.count - 1
    filtered.impulseResponses = (0..<set.directions.count * 2).flatMap { row -> [Float] in
      let response = set.impulseResponses[row * set.taps..<(row + 1) * set.taps]
      return convolve(Array(response), taps).map { Float($0) }
    }
    #expect(abs(filtered.diffuseFieldLevelDecibels - set.diffuseFieldLevelDecibels) < 0.1)
  }

  @Test func emptyProfileIsAUnitImpulse() {
    let taps = HeadphoneProfile(name: "flat", filters: []).taps(sampleRate: 48000, field: .flat)
    #expect(taps == [1])
  }

  @Test func ringingFilterHasMaximumLengthAndPeaksFirst() {
    let slow = HeadphoneProfile(
      name: "slow", filters: [.init(.peak, frequency: 20, gain: 12, quality: 10)])
    let taps = slow.taps(sampleRate: Self.rate, field: .flat)
    #expect(taps.count == Int(HeadphoneProfile.longest * Self.rate))
    #expect(taps[0] == taps.max())
  }

  private func decibels(_ a: [Float], _ truth: [Double]) -> Double {
    var (error, energy) = (0.0, 0.0)
    for (x, y) in zip(a, truth) {
      error += (Double(x) - y) * (Double(x) - y)
      energy += y * y
    }
    return 10 * log10(error / energy + 1e-30)
  }
}
