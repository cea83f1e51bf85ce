// SPDX-License-Identifier: Apache-2.0

import Geometry
import SignalProcessing
import TestSupport
import Testing

@testable import Ambisonics

@Suite struct SoundfieldRotatorTests {
  /// Returns the pose of a head that turns at 1000 degrees per second and nods.
  static func pose(atGridPoint g: Int) -> Quaternion {
    pose(atFrame: Double(g * PoseGrid.cellFrames))
  }

  static func pose(atFrame frame: Double, speed: Double = 1) -> Quaternion {
    let t = frame / 48000 * speed
    return YawPitchRoll(yaw: 1000 * t, pitch: 30 * t, roll: -200 * t).quaternion
  }

  /// Rotates a signal in calls of the given sizes, used in rotation.
  static func rotate(
    _ x: [[Float]], order: Int, calls: [Int], set: InstructionSet = .current, speed: Double = 1
  ) -> [[Float]] {
    let rotator = SoundfieldRotator(order: order, set: set)
    let total = x[0].count
    let stride = 8192
    let grid = PoseGrid(longestCall: total)
    let input = AlignedFloats(count: stride * x.count)
    let output = AlignedFloats(count: stride * x.count)
    var result = x.map { _ in [Float]() }
    var (done, turn) = (0, 0)
    while done < total {
      let n = min(calls[turn % calls.count], total - done)
      let points = grid.points(forNext: n).map { pose(atFrame: Double(16 * $0), speed: speed) }
      let poses = grid.take(points, forNext: n)
      let phase = poses.phase
      for c in 0..<x.count {
        for i in 0..<n { input.pointer[c * stride + phase + i] = x[c][done + i] }
      }
      rotator.process(
        input: input.pointer, output: output.pointer, stride: stride, frames: n, poses: poses)
      for c in 0..<x.count {
        result[c] += (0..<n).map { output.pointer[c * stride + phase + $0] }
      }
      done += n
      turn += 1
    }
    return result
  }

  @Test(arguments: 1...7)
  func outputIsIndependentOfCallSize(order: Int) {
    var random = SeededGenerator.forTest()
    let channels = SphericalHarmonics.channelCount(order: order)
    let x = (0..<channels).map { _ in
      (0..<1500).map { _ in Float.random(in: -1...1, using: &random) }
    }
    let whole = Self.rotate(x, order: order, calls: [1500])
    for calls in [[1], [64], [1000], [31, 33, 7], [1200, 1]] {
      #expect(Self.rotate(x, order: order, calls: calls) == whole)
    }
  }

  /// Compares with the definition: the matrices of the grid points, mixed in double precision.
  @Test(arguments: 1...7, InstructionSet.allCases.filter { $0 <= .widest })
  func everyKernelInterpolatesGridPointMatrices(order: Int, set: InstructionSet) {
    var random = SeededGenerator.forTest()
    let channels = SphericalHarmonics.channelCount(order: order)
    let x = (0..<channels).map { _ in
      (0..<200).map { _ in Float.random(in: -1...1, using: &random) }
    }
    let y = Self.rotate(x, order: order, calls: [200], set: set, speed: 0.1)
    let rotation = SphericalHarmonicRotation(order: order, set: .baseline)
    var matrices = (0...13).map { _ in [Float](repeating: 0, count: rotation.coefficientCount) }
    for g in matrices.indices {
      rotation.compute(
        RotationMatrix(Self.pose(atFrame: Double(16 * g), speed: 0.1).conjugate),
        into: &matrices[g])
    }
    for n in 0..<200 {
      let (a, b) = (matrices[n / 16], matrices[n / 16 + 1])
      let share = Double(n % 16) / 16
      #expect(abs(y[0][n] - x[0][n]) == 0)
      for l in 1...order {
        let block = SphericalHarmonicRotation.blockOffset(degree: l)
        for row in 0...(2 * l) {
          var truth = 0.0
          for column in 0...(2 * l) {
            let at = block + row * (2 * l + 1) + column
            let gain = Double(a[at]) + (Double(b[at]) - Double(a[at])) * share
            truth += gain * Double(x[l * l + column][n])
          }
          #expect(abs(Double(y[l * l + row][n]) - truth) < 2e-6)
        }
      }
    }
  }

  /// Even for a head faster than any real one, the error is below -90 dB relative to the matrix of
  /// each frame's own pose.
  @Test(arguments: 1...7, InstructionSet.allCases.filter { $0 <= .widest })
  func everyKernelIsAccurateForAFastHead(order: Int, set: InstructionSet) {
    var random = SeededGenerator.forTest()
    let channels = SphericalHarmonics.channelCount(order: order)
    let x = (0..<channels).map { _ in
      (0..<320).map { _ in Float.random(in: -1...1, using: &random) }
    }
    let speed = 12 / Double(order)
    let y = Self.rotate(x, order: order, calls: [320], set: set, speed: speed)
    let rotation = SphericalHarmonicRotation(order: order, set: .baseline)
    var matrix = [Float](repeating: 0, count: rotation.coefficientCount)
    var (error, energy) = (0.0, 0.0)
    for n in 0..<320 {
      let ends = (n / 16 * 16, n / 16 * 16 + 16)
      let pose = Quaternion.slerp(
        Self.pose(atFrame: Double(ends.0), speed: speed),
        Self.pose(atFrame: Double(ends.1), speed: speed), Double(n % 16) / 16)
      rotation.compute(RotationMatrix(pose.conjugate), into: &matrix)
      for l in 1...order {
        let block = SphericalHarmonicRotation.blockOffset(degree: l)
        for row in 0...(2 * l) {
          var truth = 0.0
          for column in 0...(2 * l) {
            let gain = matrix[block + row * (2 * l + 1) + column]
            truth += Double(gain) * Double(x[l * l + column][n])
          }
          let rest = Double(y[l * l + row][n]) - truth
          error += rest * rest
          energy += truth * truth
        }
      }
    }
    #expect(error < 1e-9 * energy)
  }

  @Test func rotationGivesTheDirectionRelativeToTheHead() {
    var random = SeededGenerator.forTest()
    let q = randomTurn(using: &random)
    let d = randomDirection(using: &random)
    let x = SphericalHarmonics.evaluate(order: 3, d).map {
      [Float](repeating: Float($0), count: 64)
    }
    let rotator = SoundfieldRotator(order: 3)
    let input = AlignedFloats(count: 64 * 16)
    let output = AlignedFloats(count: 64 * 16)
    for c in 0..<16 { for i in 0..<64 { input.pointer[c * 64 + i] = x[c][i] } }
    let poses = [Quaternion](repeating: q, count: 64 / PoseGrid.cellFrames + 1)
    poses.withUnsafeBufferPointer {
      rotator.process(
        input: input.pointer, output: output.pointer, stride: 64, frames: 64,
        poses: GridPoses(frame: 0, poses: $0.baseAddress!))
    }
    let truth = SphericalHarmonics.evaluate(order: 3, q.conjugate.rotate(d))
    for c in 0..<16 {
      for i in 0..<64 { #expect(abs(Double(output.pointer[c * 64 + i]) - truth[c]) < 2e-6) }
    }
  }
}
