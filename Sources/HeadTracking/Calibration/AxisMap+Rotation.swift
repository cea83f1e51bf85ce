// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc

extension AxisMap {
  /// The map in the form that `init(_:)` parses, such as `y,-x,z`.
  public var text: String {
    (0..<3).map { "\(signs[$0] < 0 ? "-" : "")\(["x", "y", "z"][columns[$0]])" }
      .joined(separator: ",")
  }

  static let all: [AxisMap] = {
    let axes = ["x", "y", "z", "-x", "-y", "-z"]
    return axes.flatMap { front in
      axes.flatMap { left in axes.map { up in "\(front),\(left),\(up)" } }
    }.compactMap { try? AxisMap($0) }
  }()

  var quaternion: Quaternion {
    let front = apply(SIMD3(1, 0, 0))
    let left = apply(SIMD3(0, 1, 0))
    let first = Quaternion.shortest(from: SIMD3(1, 0, 0), to: front)
    // The remaining rotation is about `front`.
    let now = first.rotate(SIMD3(0, 1, 0))
    let sine = (SIMD3.cross(now, left) * front).sum()
    let angle = atan2(sine, (now * left).sum())
    return (Quaternion(rotationVector: front * angle) * first).normalized
  }
}

extension Quaternion {
  /// Returns the shortest rotation from one unit vector to another.
  static func shortest(from a: SIMD3<Double>, to b: SIMD3<Double>) -> Quaternion {
    let cosine = (a * b).sum()
    if cosine < -0.999999 {
      // The vectors are opposite: any axis perpendicular to both will do.
      let helper = abs(a.x) < 0.5 ? SIMD3(1.0, 0, 0) : SIMD3(0, 1, 0)
      let axis = SIMD3.cross(a, helper)
      return Quaternion(w: 0, x: axis.x, y: axis.y, z: axis.z).normalized
    }
    let axis = SIMD3.cross(a, b)
    return Quaternion(w: 1 + cosine, x: axis.x, y: axis.y, z: axis.z).normalized
  }
}

extension SIMD3<Double> {
  static func cross(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> SIMD3<Double> {
    SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
  }

  var length: Double { (self * self).sum().squareRoot() }
}
