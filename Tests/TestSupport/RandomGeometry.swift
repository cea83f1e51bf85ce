// SPDX-License-Identifier: Apache-2.0

public import Geometry
import Glibc

/// A direction from the uniform distribution on the sphere.
public func randomDirection() -> SIMD3<Double> {
  let z = Double.random(in: -1...1)
  let azimuth = Double.random(in: 0..<(2 * .pi))
  let r = (1 - z * z).squareRoot()
  return SIMD3(r * cos(azimuth), r * sin(azimuth), z)
}

/// A turn from the uniform distribution over all rotations (Shoemake, Graphics Gems III, 1992).
public func randomTurn() -> Quaternion {
  let (u, v, w) = (
    Double.random(in: 0...1), Double.random(in: 0..<(2 * .pi)), Double.random(in: 0..<(2 * .pi))
  )
  let (a, b) = ((1 - u).squareRoot(), u.squareRoot())
  return Quaternion(w: a * sin(v), x: a * cos(v), y: b * sin(w), z: b * cos(w))
}
