// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import Testing

@testable import Binaural

@Suite("Area weights of directions")
struct HRTFAreaWeightTests {
  private func set(_ directions: [SIMD3<Double>]) -> HRTFSet {
    HRTFSet(
      name: "grid", sampleRate: 48_000, directions: directions, radius: 1, taps: 1,
      impulseResponses: [Float](repeating: 1, count: 2 * directions.count),
      delays: [Double](repeating: 0, count: 2 * directions.count))
  }

  private static let octahedron: [SIMD3<Double>] = [
    SIMD3(1, 0, 0), SIMD3(-1, 0, 0), SIMD3(0, 1, 0), SIMD3(0, -1, 0), SIMD3(0, 0, 1),
    SIMD3(0, 0, -1),
  ]

  private static func scattered(_ count: Int) -> [SIMD3<Double>] {
    (0..<count).map { index in
      let z = 1 - (2 * Double(index) + 1) / Double(count)
      let turn = Double(index) * 2.4 + sin(Double(index * index))
      return SIMD3((1 - z * z).squareRoot() * cos(turn), (1 - z * z).squareRoot() * sin(turn), z)
    }
  }

  @Test("Vertices of regular solids have equal weights")
  func verticesOfRegularSolidsHaveEqualWeights() {
    let signs = [1.0, -1]
    let cube = signs.flatMap { x in signs.flatMap { y in signs.map { SIMD3(x, y, $0) } } }
    let tetrahedron = [SIMD3(1.0, 1, 1), SIMD3(1, -1, -1), SIMD3(-1, 1, -1), SIMD3(-1, -1, 1)]
    for solid in [Self.octahedron, cube, tetrahedron] {
      for weight in set(solid).areaWeights(limitingCaps: false) {
        #expect(abs(weight - 1 / Double(solid.count)) < 1e-12)
      }
    }
  }

  @Test("Voronoi cells of full-sphere grids cover the sphere once", arguments: [0, 1, 2])
  func voronoiCellsCoverTheSphereOnce(grid: Int) {
    let directions =
      switch grid {
      case 0: RigidSphereHead.rings(spacing: 5)
      case 1: Self.scattered(500)
      default: RigidSphereHead.rings(spacing: 30) + Self.scattered(50)
      }
    let areas = SphericalVoronoi(directions).areas
    #expect(abs(areas.reduce(0, +) - 4 * Double.pi) < 1e-9)
    #expect(areas.allSatisfy { $0 > 0 })
  }

  @Test("Weights match the counts of nearest directions over the sphere")
  func weightsMatchNearestDirectionCounts() {
    let directions = Self.scattered(60)
    let weights = set(directions).areaWeights(limitingCaps: false)
    let points = 60_000
    var counts = [Double](repeating: 0, count: directions.count)
    for index in 0..<points {
      let z = 1 - (2 * Double(index) + 1) / Double(points)
      let (r, turn) = ((1 - z * z).squareRoot(), Double(index) * .pi * (3 - 5.0.squareRoot()))
      let (x, y) = (r * cos(turn), r * sin(turn))
      var (best, nearest) = (-2.0, 0)
      for (number, direction) in directions.enumerated() {
        let cosine = x * direction.x + y * direction.y + z * direction.z
        if cosine > best { (best, nearest) = (cosine, number) }
      }
      counts[nearest] += 1
    }
    for (weight, count) in zip(weights, counts) {
      #expect(abs(count / Double(points) / weight - 1) < 0.02)
    }
  }

  @Test("Duplicate directions share one cell")
  func duplicateDirectionsShareOneCell() {
    let up = SIMD3(0.0, 0, 1)
    let weights = set(Self.octahedron + [up, up]).areaWeights(limitingCaps: false)
    for index in [4, 6, 7] { #expect(abs(weights[index] - 1.0 / 18) < 1e-12) }
    for index in [0, 1, 2, 3, 5] { #expect(abs(weights[index] - 1.0 / 6) < 1e-12) }
  }

  @Test("Rings, hemispheres, pairs and single directions have valid weights and gaps")
  func degenerateGridsHaveValidWeightsAndGaps() {
    let ring = (0..<36).map { Direction(azimuth: Double($0) * 10).unitVector }
    for weight in set(ring).areaWeights { #expect(abs(weight - 1.0 / 36) < 1e-9) }
    #expect(abs(set(ring).largestGapDegrees - 90) < 0.1)
    for weight in set([SIMD3(0, 0, 1), SIMD3(0, 0, -1)]).areaWeights {
      #expect(abs(weight - 0.5) < 1e-9)
    }
    #expect(set([SIMD3(1, 0, 0)]).areaWeights == [1])
    #expect(set([SIMD3(1, 0, 0)]).largestGapDegrees > 175)
    #expect(set([]).areaWeights.isEmpty)
    let half = RigidSphereHead.rings(spacing: 10).filter { $0.z >= 0 }
    #expect(abs(set(half).areaWeights.reduce(0, +) - 1) < 1e-12)
    #expect(abs(set(half).largestGapDegrees - 90) < 0.1)
  }

  @Test("A direction at the rim of a gap weighs at most three times the median")
  func weightsAtGapRimsAreLimited() {
    let cap = RigidSphereHead.rings(spacing: 10).filter { $0.z > -0.3 }
    let free = set(cap).areaWeights(limitingCaps: false)
    let limited = set(cap).areaWeights
    func ratio(_ weights: [Double]) -> Double {
      let sorted = weights.sorted()
      return (sorted.last ?? 0) / sorted[sorted.count / 2]
    }
    #expect(ratio(free) > 3.5)
    #expect(ratio(limited) < 3.0001)
    #expect(abs(limited.reduce(0, +) - 1) < 1e-12)
  }

  @Test("Weights are invariant under rotation")
  func weightsAreRotationInvariant() {
    let turn = RotationMatrix(YawPitchRoll(yaw: 33, pitch: 21, roll: -64).quaternion)
    let directions = RigidSphereHead.rings(spacing: 15)
    let turned = set(directions.map { turn.rotate($0) }).areaWeights
    for (a, b) in zip(set(directions).areaWeights, turned) { #expect(abs(a - b) < 1e-9) }
  }
}
