// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import TestSupport
import Testing

@testable import Ambisonics

@Suite struct SphericalHarmonicsTests {
  /// Compares orders 1 and 2 with the explicit formulas (AmbiX paper, table 1).
  @Test func firstTwoOrdersMatchTheExplicitFormulas() {
    var random = SeededGenerator.forTest()
    for _ in 0..<100 {
      let v = randomDirection(using: &random)
      let y = SphericalHarmonics.evaluate(order: 2, v)
      let r3 = 3.0.squareRoot()
      let truth = [
        1, v.y, v.z, v.x, r3 * v.x * v.y, r3 * v.y * v.z, 1.5 * v.z * v.z - 0.5, r3 * v.x * v.z,
        r3 / 2 * (v.x * v.x - v.y * v.y),
      ]
      for (a, b) in zip(y, truth) { #expect(abs(a - b) < 1e-12) }
    }
  }

  /// The SN3D energy of each degree is 1 in every direction (addition theorem), for orders 1 to 7.
  @Test(arguments: 1...7)
  func everyDegreeHasUnitEnergy(order: Int) {
    var random = SeededGenerator.forTest()
    for _ in 0..<50 {
      let y = SphericalHarmonics.evaluate(order: order, randomDirection(using: &random))
      for l in 0...order {
        let energy = y[(l * l)..<((l + 1) * (l + 1))].reduce(0) { $0 + $1 * $1 }
        #expect(abs(energy - 1) < 1e-12)
      }
    }
  }

  /// The addition theorem for two directions: the sum is P_l(cos angle).
  @Test func additionTheoremHolds() {
    var random = SeededGenerator.forTest()
    for _ in 0..<50 {
      let (a, b) = (randomDirection(using: &random), randomDirection(using: &random))
      let (ya, yb) = (
        SphericalHarmonics.evaluate(order: 7, a), SphericalHarmonics.evaluate(order: 7, b)
      )
      let x = (a * b).sum()
      var (previous, current) = (1.0, x)
      for l in 1...7 {
        let sum = ((l * l)..<((l + 1) * (l + 1))).reduce(0.0) { $0 + ya[$1] * yb[$1] }
        #expect(abs(sum - current) < 1e-11)
        (previous, current) = (
          current, (Double(2 * l + 1) * x * current - Double(l) * previous) / Double(l + 1)
        )
      }
    }
  }

  /// Checks the defining property for random rotations and every order: y(R d) = M y(d).
  @Test(arguments: 1...7)
  func rotationMatrixRotatesSources(order: Int) {
    var random = SeededGenerator.forTest()
    let rotation = SphericalHarmonicRotation(order: order)
    var blocks = [Float](repeating: 0, count: rotation.coefficientCount)
    for _ in 0..<50 {
      let q = randomTurn(using: &random)
      rotation.compute(RotationMatrix(q), into: &blocks)
      let d = randomDirection(using: &random)
      let before = SphericalHarmonics.evaluate(order: order, d)
      let after = SphericalHarmonics.evaluate(order: order, q.rotate(d))
      #expect(maximumError(of: blocks, from: before, to: after, order: order) < 2e-6)
    }
  }

  @Test(arguments: [
    Quaternion(w: 1, x: 0, y: 0, z: 0), Quaternion(w: 0, x: 0, y: 0, z: 1),
    Quaternion(w: 0, x: 1, y: 0, z: 0), Quaternion(w: 0, x: 0, y: 1, z: 0),
  ])
  func identityAndHalfTurnsRotateCorrectly(q: Quaternion) {
    var random = SeededGenerator.forTest()
    let rotation = SphericalHarmonicRotation(order: 7)
    var blocks = [Float](repeating: 0, count: rotation.coefficientCount)
    rotation.compute(RotationMatrix(q), into: &blocks)
    let d = randomDirection(using: &random)
    let before = SphericalHarmonics.evaluate(order: 7, d)
    let after = SphericalHarmonics.evaluate(order: 7, q.rotate(d))
    #expect(maximumError(of: blocks, from: before, to: after, order: 7) < 2e-6)
  }

  private func maximumError(
    of blocks: [Float], from before: [Double], to after: [Double], order: Int
  ) -> Double {
    var worst = 0.0
    for l in 1...order {
      let offset = SphericalHarmonicRotation.blockOffset(degree: l)
      for row in 0..<(2 * l + 1) {
        let sum = (0..<(2 * l + 1)).reduce(0.0) {
          $0 + Double(blocks[offset + row * (2 * l + 1) + $1]) * before[l * l + $1]
        }
        worst = max(worst, abs(sum - after[l * l + row]))
      }
    }
    return worst
  }
}
