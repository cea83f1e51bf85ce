// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import SignalProcessing
import TestSupport
import Testing

@testable import Ambisonics

@Suite struct SpeakerBedRotatorTests {
  /// Encodes a signal in calls of the given sizes, used in rotation.
  private func encode(
    _ x: [[Float]], order: Int, _ directions: [SIMD3<Double>], calls: [Int],
    pose: (Int) -> Quaternion
  ) -> [[Float]] {
    let rotator = SpeakerBedRotator(order: order, directions: directions)
    let stride = 2048
    let grid = PoseGrid(longestCall: x[0].count)
    let input = AlignedFloats(count: stride * x.count)
    let output = AlignedFloats(count: stride * rotator.channels)
    var result = [[Float]](repeating: [], count: rotator.channels)
    var (done, turn) = (0, 0)
    while done < x[0].count {
      let n = min(calls[turn % calls.count], x[0].count - done)
      let poses = grid.take(grid.points(forNext: n).map(pose), forNext: n)
      for c in 0..<x.count {
        for i in 0..<n { input.pointer[c * stride + poses.phase + i] = x[c][done + i] }
      }
      rotator.process(
        input: input.pointer, output: output.pointer, stride: stride, frames: n, poses: poses)
      for c in result.indices {
        result[c] += (0..<n).map { output.pointer[c * stride + poses.phase + $0] }
      }
      done += n
      turn += 1
    }
    return result
  }

  /// Compares with the bed encoded as a soundfield and turned by `SoundfieldRotator`.
  @Test(arguments: 1...7)
  func bedRotatorEqualsEncodingThenRotating(order: Int) {
    var random = SeededGenerator.forTest()
    let directions = (0..<5).map { _ in randomDirection(using: &random) }
    let x = directions.map { _ in (0..<1500).map { _ in Float.random(in: -1...1, using: &random) } }
    let gains = directions.map { SphericalHarmonics.evaluate(order: order, $0) }
    let field = gains[0].indices.map { c in
      x[0].indices.map { n in
        Float(directions.indices.reduce(0.0) { $0 + gains[$1][c] * Double(x[$1][n]) })
      }
    }
    let truth = SoundfieldRotatorTests.rotate(field, order: order, calls: [1500])
    let ours = encode(
      x, order: order, directions, calls: [1500], pose: SoundfieldRotatorTests.pose)
    var (error, energy) = (0.0, 0.0)
    for (a, b) in zip(ours.joined(), truth.joined()) {
      error += Double(a - b) * Double(a - b)
      energy += Double(b) * Double(b)
    }
    #expect(10 * log10(error / energy) < -120)
  }

  @Test(arguments: [1, 3, 7])
  func outputIsIndependentOfCallSize(order: Int) {
    var random = SeededGenerator.forTest()
    let directions = (0..<11).map { _ in randomDirection(using: &random) }
    let x = directions.map { _ in (0..<1200).map { _ in Float.random(in: -1...1, using: &random) } }
    let poses: [(Int) -> Quaternion] = [
      SoundfieldRotatorTests.pose, { _ in .identity },
      { YawPitchRoll(yaw: 30 * Double($0 / 8)).quaternion },
    ]
    for pose in poses {
      let whole = encode(x, order: order, directions, calls: [1200], pose: pose)
      for calls in [[1], [64], [1000], [31, 33, 7], [900, 1]] {
        #expect(encode(x, order: order, directions, calls: calls, pose: pose) == whole)
      }
    }
  }

  @Test func evaluatorMatchesTheSphericalHarmonics() {
    var random = SeededGenerator.forTest()
    for order in 0...7 {
      let evaluator = HarmonicEvaluator(order: order)
      let gains = AlignedFloats(count: SphericalHarmonics.channelCount(order: order))
      for _ in 0..<50 {
        let v = randomDirection(using: &random)
        evaluator.evaluate(v, into: gains.pointer)
        for (c, truth) in SphericalHarmonics.evaluate(order: order, v).enumerated() {
          #expect(gains.pointer[c] == Float(truth))
        }
      }
    }
  }
}
