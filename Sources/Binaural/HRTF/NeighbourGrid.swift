// SPDX-License-Identifier: Apache-2.0

/// Directions sorted into a grid of cubes, for finding neighbours.
struct NeighbourGrid {
  /// The edge length of a cube. The edge length of the complete grid is 2.
  let side: Double
  private let cubes: Int
  /// The directions in cube c have the indices `order[start[c]..<start[c + 1]]`.
  private let start: [Int]
  private let order: [Int]

  init(_ directions: [SIMD3<Double>]) {
    // In a large set, a cube that the sphere passes through contains about three directions on
    // average.
    let cubes = max(1, min(100, Int(Double(directions.count).squareRoot() / 3.5)))
    self.cubes = cubes
    side = 2 / Double(cubes)
    var counts = [Int](repeating: 0, count: cubes * cubes * cubes + 1)
    let cubeOf = directions.map { direction -> Int in
      let (i, j, k) = Self.cube(direction, cubes)
      return (i * cubes + j) * cubes + k
    }
    for cube in cubeOf { counts[cube + 1] += 1 }
    for cube in 1..<counts.count { counts[cube] += counts[cube - 1] }
    start = counts
    var order = [Int](repeating: 0, count: directions.count)
    for (index, cube) in cubeOf.enumerated() {
      order[counts[cube]] = index
      counts[cube] += 1
    }
    self.order = order
  }

  private static func cube(_ v: SIMD3<Double>, _ cubes: Int) -> (Int, Int, Int) {
    func place(_ x: Double) -> Int { max(0, min(cubes - 1, Int((x + 1) / 2 * Double(cubes)))) }
    return (place(v.x), place(v.y), place(v.z))
  }

  /// Whether a shell with this number can contain cubes of the grid; see `forEach`.
  func reaches(shell: Int) -> Bool { shell < cubes }

  /// Calls `body` with the index of each direction in a shell around the cube that contains `v`.
  ///
  /// Shell n consists of the cubes whose offset from that cube is n along at least one axis and at
  /// most n along the others. Its directions are at least (n - 1) x `side` from `v`.
  func forEach(inShell shell: Int, around v: SIMD3<Double>, _ body: (Int) -> Void) {
    let (i, j, k) = Self.cube(v, cubes)
    for x in max(0, i - shell)...min(cubes - 1, i + shell) {
      for y in max(0, j - shell)...min(cubes - 1, j + shell) {
        let wall = abs(x - i) == shell || abs(y - j) == shell
        let step = wall || shell == 0 ? 1 : 2 * shell
        for z in stride(from: k - shell, through: k + shell, by: step) where z >= 0 && z < cubes {
          let cube = (x * cubes + y) * cubes + z
          for entry in start[cube]..<start[cube + 1] { body(order[entry]) }
        }
      }
    }
  }
}
