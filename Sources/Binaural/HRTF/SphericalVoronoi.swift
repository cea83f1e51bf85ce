// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Divides the unit sphere into the Voronoi cells of a set of directions and measures the cells.
///
/// Each cell is computed in the plane that touches the sphere at the cell's direction (gnomonic
/// projection): a large square is clipped with the bisectors between the direction and its
/// neighbours. The square limits a cell to about 89.99 degrees from its direction.
struct SphericalVoronoi {
  /// The area of each direction's cell in steradians. Equal directions share a cell equally.
  let areas: [Double]
  /// The largest angle from any point on the sphere to the nearest direction, in radians.
  /// Values of about 90 degrees or more are approximate.
  let largestGap: Double

  init(_ directions: [SIMD3<Double>]) {
    var numberOf: [SIMD3<Int32>: Int] = [:]
    var distinct: [SIMD3<Double>] = []
    var members: [Int] = []
    let owner = directions.map { direction -> Int in
      let unit = direction / direction.length
      let key = SIMD3<Int32>((unit * 1e6).rounded(.toNearestOrAwayFromZero))
      if let known = numberOf[key] {
        members[known] += 1
        return known
      }
      numberOf[key] = distinct.count
      distinct.append(unit)
      members.append(1)
      return distinct.count - 1
    }
    let neighbours = NeighbourGrid(distinct)
    var cell = VoronoiCell()
    var (cells, reach) = ([Double](), 0.0)
    for index in distinct.indices {
      cell.cut(around: index, of: distinct, neighbours)
      cells.append(cell.area)
      reach = max(reach, cell.reach)
    }
    areas = owner.map { cells[$0] / Double(members[$0]) }
    // Cells that extend to almost 90 degrees may have been cut off, so the gap is measured at the
    // points of a lattice instead.
    largestGap = reach < 1e3 ? atan(reach) : max(.pi / 2, latticeGap(distinct))
  }
}

/// Returns the largest angle from any of 2000 points on the sphere (a Fibonacci lattice) to the
/// nearest direction, in radians.
private func latticeGap(_ directions: [SIMD3<Double>]) -> Double {
  let count = 2000
  var smallest = 1.0
  for index in 0..<count {
    let z = 1 - (2 * Double(index) + 1) / Double(count)
    let (r, turn) = ((1 - z * z).squareRoot(), Double(index) * .pi * (3 - 5.0.squareRoot()))
    let point = SIMD3(r * cos(turn), r * sin(turn), z)
    let nearest = directions.reduce(-1.0) { max($0, ($1 * point).sum()) }
    smallest = min(smallest, nearest)
  }
  return acos(max(-1, smallest))
}
