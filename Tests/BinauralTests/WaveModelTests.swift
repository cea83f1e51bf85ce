// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Geometry
import TestSupport
import Testing

@testable import Binaural

@Suite struct WaveModelTests {
  /// Returns the covariance of waves in a diffuse field, in N3D scale and the order W X Y Z.
  static func covariance(_ waves: [(SIMD3<Double>, Double)], diffuse: Double) -> [SIMD4<Double>] {
    var rows = (0..<4).map { i -> SIMD4<Double> in
      var row = SIMD4<Double>.zero
      row[i] = diffuse
      return row
    }
    for (d, power) in waves {
      let b = SIMD4(1, d.x * 3.0.squareRoot(), d.y * 3.0.squareRoot(), d.z * 3.0.squareRoot())
      for i in 0..<4 { rows[i] += b * b[i] * power }
    }
    return rows
  }

  static func eigen(_ rows: [SIMD4<Double>]) -> SymmetricEigen {
    let eigen = SymmetricEigen()
    for i in 0..<4 { for j in 0..<4 { eigen.matrix[4 * i + j] = rows[i][j] } }
    eigen.decompose()
    return eigen
  }

  @Test(arguments: 0..<50) func eigenvectorsReconstructTheMatrix(_: Int) {
    var random = SeededGenerator.forTest()
    let waves = (0..<4).map { _ in
      (randomDirection(using: &random), Double.random(in: 0...1, using: &random))
    }
    let rows = Self.covariance(waves, diffuse: .random(in: 0...0.1, using: &random))
    let eigen = Self.eigen(rows)
    for i in 0..<4 {
      for j in 0..<4 {
        var sum = 0.0
        for k in 0..<4 { sum += eigen.value(k) * eigen.vector(k)[i] * eigen.vector(k)[j] }
        #expect(abs(sum - rows[i][j]) < 1e-10)
      }
      if i > 0 { #expect(eigen.value(i) <= eigen.value(i - 1)) }
    }
  }

  @Test(arguments: 0..<50) func modelRecoversTwoWaves(_: Int) {
    var random = SeededGenerator.forTest()
    let a = randomDirection(using: &random)
    var b = randomDirection(using: &random)
    while (a * b).sum() > 0.9 { b = randomDirection(using: &random) }
    let (p, q) = (
      Double.random(in: 0.2...1, using: &random), Double.random(in: 0.2...1, using: &random)
    )
    let model = WaveModel(
      Self.eigen(Self.covariance([(a, p), (b, q)], diffuse: 0)), bins: 10)
    let isSwapped = (model.first * b).sum() > (model.first * a).sum()
    let (first, second) = isSwapped ? (model.second, model.first) : (model.first, model.second)
    #expect((first * a).sum() > 0.99999 && (second * b).sum() > 0.99999)
    let powers =
      isSwapped
      ? (model.secondPower, model.firstPower) : (model.firstPower, model.secondPower)
    #expect(abs(powers.0 / p - 1) < 0.02 && abs(powers.1 / q - 1) < 0.02)
    #expect(model.diffusePower < 0.01 * (p + q))
  }

  @Test(arguments: [
    SIMD3(1.0, 0, 0), SIMD3(0, -1.0, 0), SIMD3(0, 0, 1.0), SIMD3(0.6, 0.6, -0.529150262212918),
  ])
  func modelRecoversOneWaveInSymmetricDirections(direction: SIMD3<Double>) {
    let model = WaveModel(Self.eigen(Self.covariance([(direction, 0.7)], diffuse: 0)), bins: 3)
    let first = (model.first * direction).sum() > 0.99999 ? model.firstPower : 0
    let second = (model.second * direction).sum() > 0.99999 ? model.secondPower : 0
    #expect(abs((first + second) / 0.7 - 1) < 0.02)
  }

  @Test func diffuseFieldHasNoWaves() {
    let model = WaveModel(Self.eigen(Self.covariance([], diffuse: 0.3)), bins: 10)
    #expect(abs(model.diffusePower - 0.3) < 1e-9)
    #expect(model.firstPower + model.secondPower < 1e-4)
  }

  @Test(arguments: 0..<100) func gridSharesInterpolateTheDirection(_: Int) {
    var random = SeededGenerator.forTest()
    let v = randomDirection(using: &random)
    let place = DirectionGrid.place(v)
    #expect(abs(place.shares.sum() - 1) < 1e-6)
    var mean = SIMD3<Double>.zero
    for i in 0..<4 {
      #expect(place.shares[i] > -1e-6)
      mean += DirectionGrid.direction(place.points[i]) * Double(place.shares[i])
    }
    #expect((mean * v).sum() / (mean * mean).sum().squareRoot() > 0.9999995)
  }

  @Test(arguments: 0..<20) func neighbourWeightsReproduceADirection(_: Int) {
    var random = SeededGenerator.forTest()
    let directions = fibonacciLattice(count: 700)
    let v = randomDirection(using: &random)
    var (mean, sum) = (SIMD3<Double>.zero, 0.0)
    for (d, weight) in PlaneWaveResponses.neighbours(of: v, in: directions) {
      mean += directions[d] * weight
      sum += weight
    }
    #expect(abs(sum - 1) < 1e-9)
    #expect((mean * v).sum() / (mean * mean).sum().squareRoot() > 0.999999)
    let neighbours = PlaneWaveResponses.neighbours(of: directions[31], in: directions)
    #expect(neighbours.first { $0.0 == 31 }!.1 > 0.999)
  }
}
