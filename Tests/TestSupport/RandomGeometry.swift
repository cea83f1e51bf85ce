// SPDX-License-Identifier: Apache-2.0

public import Geometry
import Glibc
public import System

extension SeededGenerator {
  /// Returns a generator for one test, seeded from the seed of the run and the name of the test.
  ///
  /// The seed of the run is printed once; STILLSTAGE_SEED sets it.
  public static func forTest(_ file: String = #fileID, _ name: String = #function) -> Self {
    // The hash is FNV-1a, because Swift's own hash differs from run to run.
    let hash = (file + name).utf8.reduce(0xCBF2_9CE4_8422_2325) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01B3
    }
    return SeededGenerator(runSeed ^ hash)
  }
}

private let runSeed: UInt64 = {
  let chosen = getenv("STILLSTAGE_SEED").flatMap { UInt64(String(cString: $0)) }
  let seed = chosen ?? UInt64.random(in: 0..<1_000_000)
  print("Random seed: \(seed) (set STILLSTAGE_SEED to repeat)")
  return seed
}()

/// Returns a direction from the uniform distribution on the sphere.
public func randomDirection(using random: inout SeededGenerator) -> SIMD3<Double> {
  let z = Double.random(in: -1...1, using: &random)
  let azimuth = Double.random(in: 0..<(2 * .pi), using: &random)
  let r = (1 - z * z).squareRoot()
  return SIMD3(r * cos(azimuth), r * sin(azimuth), z)
}

/// Returns a rotation from the uniform distribution over all rotations (Shoemake, Graphics Gems
/// III, 1992).
public func randomTurn(using random: inout SeededGenerator) -> Quaternion {
  let u = Double.random(in: 0...1, using: &random)
  let v = Double.random(in: 0..<(2 * .pi), using: &random)
  let w = Double.random(in: 0..<(2 * .pi), using: &random)
  let (a, b) = ((1 - u).squareRoot(), u.squareRoot())
  return Quaternion(w: a * sin(v), x: a * cos(v), y: b * sin(w), z: b * cos(w))
}

extension SeededGenerator {
  /// Returns a number from the uniform distribution over 0..<1.
  public mutating func unit() -> Double { Double.random(in: 0..<1, using: &self) }

  /// Returns an approximately normal vector with unit variance on each axis: the sum of twelve
  /// uniform numbers.
  public mutating func vector() -> SIMD3<Double> {
    var sum = SIMD3<Double>(repeating: -6)
    for _ in 0..<12 { sum += SIMD3(unit(), unit(), unit()) }
    return sum
  }
}
