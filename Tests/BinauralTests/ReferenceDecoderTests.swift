// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import Geometry
import Glibc
import SignalProcessing
import TestSupport
import Testing

@testable import Laboratory

/// Compares the fast decoder with the direct implementation of its definition.
@Suite struct ReferenceDecoderTests {
  static let sets = InstructionSet.allCases.filter { $0 <= .widest }

  /// Covers every order, every compiled kernel, heads with and without mirrored ears, several call
  /// sizes, a head that jumps at every grid point and one that turns smoothly.
  @Test(arguments: 1...7, sets)
  func decoderMatchesTheReference(order: Int, set: InstructionSet) {
    var random = SeededGenerator.forTest()
    for (isMirrored, calls) in [(false, [64]), (true, [64]), (false, [50, 7]), (true, [1, 90])] {
      let filters = Self.filters(order: order, taps: 190, isMirrored: isMirrored)
      let decoder = BinauralDecoder(filters: filters, partition: 32, set: set)
      let isSymmetric = decoder.isSymmetric
      #expect(isSymmetric == isMirrored)
      let input = PlanarSignal(channelCount: decoder.channels, frames: 417) { _, _ in
        .random(in: -1...1, using: &random)
      }
      let turn = RandomTurn(isFast: calls != [64], using: &random)
      let poses = (0..<ReferenceDecoder.poseCount(frames: 417)).map(turn.pose)
      let ears = Self.decode(decoder, input, poses, calls)
      let truth = ReferenceDecoder(filters: filters).decode(input.arrays, poses: poses)
      #expect(Self.residual(ears[0], truth.left) < 1e-12)
      #expect(Self.residual(ears[1], truth.right) < 1e-12)
    }
  }

  /// Checks that the path with two filters per channel gives the same result for mirrored ears.
  @Test(arguments: [1, 4, 7])
  func decoderWithoutSymmetryMatchesTheReference(order: Int) {
    var random = SeededGenerator.forTest()
    let filters = Self.filters(order: order, taps: 100, isMirrored: true)
    let decoder = BinauralDecoder(filters: filters, partition: 64, usesSymmetry: false)
    let isSymmetric = decoder.isSymmetric
    #expect(!isSymmetric)
    let input = PlanarSignal(channelCount: decoder.channels, frames: 256) { _, _ in
      .random(in: -1...1, using: &random)
    }
    let poses = (0..<17).map { _ in randomTurn(using: &random) }
    let ears = Self.decode(decoder, input, poses, [64])
    let truth = ReferenceDecoder(filters: filters).decode(input.arrays, poses: poses)
    #expect(Self.residual(ears[0], truth.left) < 1e-12)
    #expect(Self.residual(ears[1], truth.right) < 1e-12)
  }

  /// Checks the reference itself: a plane wave arrives from its direction relative to the head.
  @Test(arguments: 1...7)
  func referenceRotatesAPlaneWave(order: Int) {
    var random = SeededGenerator.forTest()
    let channels = SphericalHarmonics.channelCount(order: order)
    let look = SphericalHarmonics.evaluate(order: order, randomDirection(using: &random))
    // With one tap per channel, the ear receives one weighted sum of the rotated channels.
    let filters = BinauralFilters(
      order: order, sampleRate: 48000, left: look.map { [Float($0)] }, right: look.map { _ in [0] })
    let (source, pose) = (randomDirection(using: &random), randomTurn(using: &random))
    let wave = SphericalHarmonics.evaluate(order: order, source)
    let input = wave.map { [Float](repeating: Float($0), count: 40) }
    let heard = ReferenceDecoder(filters: filters).decode(
      input, poses: [Quaternion](repeating: pose, count: 4))
    let turned = RotationMatrix(pose.conjugate).rotate(source)
    let expected = zip(SphericalHarmonics.evaluate(order: order, turned), look).map(*).reduce(0, +)
    #expect(heard.left.allSatisfy { abs($0 - expected) < 1e-5 * Double(channels) })
    #expect(heard.right.allSatisfy { $0 == 0 })
  }

  /// Random poses that jump at every grid point, or turn at 300 degrees per second about an axis.
  private struct RandomTurn {
    private let isFast: Bool
    private let start: Quaternion
    private let axis: SIMD3<Double>
    private let seed: UInt64

    init(isFast: Bool, using random: inout SeededGenerator) {
      self.isFast = isFast
      start = randomTurn(using: &random)
      axis = randomDirection(using: &random)
      seed = random.next()
    }

    func pose(at gridPoint: Int) -> Quaternion {
      var random = SeededGenerator(seed &+ UInt64(gridPoint))
      if isFast { return randomTurn(using: &random) }
      let half = 0.5 * Double(gridPoint) * 0.1 * Double.pi / 180
      let v = sin(half) * axis
      return start * Quaternion(w: cos(half), x: v.x, y: v.y, z: v.z)
    }
  }

  private static func filters(order: Int, taps: Int, isMirrored: Bool) -> BinauralFilters {
    func ear() -> [[Float]] {
      (0..<SphericalHarmonics.channelCount(order: order)).map { _ in
        (0..<taps).map { _ in .random(in: -1...1) }
      }
    }
    let left = ear()
    let mirrored = BinauralFilters(order: order, sampleRate: 48000, left: left, right: ear())
    return isMirrored ? mirrored.mirrored() : mirrored
  }

  private static func decode(
    _ decoder: borrowing BinauralDecoder, _ input: PlanarSignal, _ poses: [Quaternion],
    _ calls: [Int]
  ) -> [[Float]] {
    let ears = PlanarSignal(channelCount: 2, frames: input.frames)
    let grid = PoseGrid(longestCall: input.frames)
    var done = 0
    input.forEachPiece(of: calls) { piece, frames in
      let needed = Array(poses[grid.points(forNext: frames)])
      decoder.process(
        input: piece, frames: frames, poses: grid.take(needed, forNext: frames),
        left: ears[0] + done, right: ears[1] + done)
      done += frames
    }
    return ears.arrays
  }

  /// Returns the energy of the difference relative to that of the truth; 1e-12 is -120 dB.
  private static func residual(_ heard: [Float], _ truth: [Double]) -> Double {
    let error = zip(heard, truth).map { (Double($0) - $1) * (Double($0) - $1) }.reduce(0, +)
    return error / truth.map { $0 * $0 }.reduce(0, +)
  }
}
