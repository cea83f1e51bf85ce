// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A Voronoi cell: a convex polygon in the plane that touches the sphere at the cell's direction.
struct VoronoiCell {
  private var x: [Double] = []
  private var y: [Double] = []
  private var nextX: [Double] = []
  private var nextY: [Double] = []

  /// The largest distance from the point where the plane touches the sphere to a corner. It equals
  /// the tangent of the angle between the directions of this point and of the corner.
  private(set) var reach = 0.0
  /// The area on the sphere, in steradians.
  private(set) var area = 0.0

  private static let horizon = 5e3

  /// Computes the cell of `directions[index]`. `neighbours` is the grid of all `directions`.
  mutating func cut(
    around index: Int, of directions: [SIMD3<Double>], _ neighbours: NeighbourGrid
  ) {
    let h = Self.horizon
    (x, y) = ([h, -h, -h, h], [h, h, -h, -h])
    measureReach()
    let p = directions[index]
    let e1 = perpendicular(p)
    let e2 = cross(p, e1)
    var shell = 0
    while neighbours.reaches(shell: shell) {
      // Directions in this shell or beyond are at least 2 x half away, so the bisectors are
      // at least tan(asin(half)) from the point of contact.
      let half = Double(shell - 1) * neighbours.side / 2
      if shell > 0, half >= 1 || half / (1 - half * half).squareRoot() >= reach { break }
      neighbours.forEach(inShell: shell, around: p) { other in
        guard other != index else { return }
        let q = directions[other]
        clip(a: (e1 * q).sum(), b: (e2 * q).sum(), limit: 1 - (p * q).sum())
      }
      measureReach()
      shell += 1
    }
    measureArea(p, e1, e2)
  }

  /// Clips the polygon to the half-plane `a` x + `b` y <= `limit`.
  private mutating func clip(a: Double, b: Double, limit: Double) {
    // A line that is farther from the point of contact than every corner does not cut the polygon.
    guard limit * limit < reach * reach * (a * a + b * b), !x.isEmpty else { return }
    nextX.removeAll(keepingCapacity: true)
    nextY.removeAll(keepingCapacity: true)
    var last = x.count - 1
    var lastSide = limit - a * x[last] - b * y[last]
    for corner in x.indices {
      let side = limit - a * x[corner] - b * y[corner]
      if (side < 0) != (lastSide < 0) {
        let t = lastSide / (lastSide - side)
        nextX.append(x[last] + t * (x[corner] - x[last]))
        nextY.append(y[last] + t * (y[corner] - y[last]))
      }
      if side >= 0 {
        nextX.append(x[corner])
        nextY.append(y[corner])
      }
      (last, lastSide) = (corner, side)
    }
    swap(&x, &nextX)
    swap(&y, &nextY)
  }

  private mutating func measureReach() {
    var square = 0.0
    for corner in x.indices { square = max(square, x[corner] * x[corner] + y[corner] * y[corner]) }
    reach = square.squareRoot()
  }

  /// Sums the areas of the spherical triangles that the cell's direction forms with the edges (Van
  /// Oosterom and Strackee 1983).
  private mutating func measureArea(
    _ p: SIMD3<Double>, _ e1: SIMD3<Double>, _ e2: SIMD3<Double>
  ) {
    area = 0
    guard !x.isEmpty else { return }
    func corner(_ index: Int) -> SIMD3<Double> {
      let v = p + x[index] * e1 + y[index] * e2
      return v / v.length
    }
    var a = corner(x.count - 1)
    for index in x.indices {
      let b = corner(index)
      let volume = (p * cross(a, b)).sum()
      area += 2 * atan2(volume, 1 + (p * a).sum() + (a * b).sum() + (b * p).sum())
      a = b
    }
  }
}

func cross(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> SIMD3<Double> {
  SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
}

/// Returns a unit vector perpendicular to the unit vector `p`.
private func perpendicular(_ p: SIMD3<Double>) -> SIMD3<Double> {
  let axis = abs(p.z) < 0.7 ? SIMD3<Double>(0, 0, 1) : SIMD3(1, 0, 0)
  let v = cross(axis, p)
  return v / v.length
}
