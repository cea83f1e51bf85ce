// SPDX-License-Identifier: Apache-2.0

/// Computes weights that interpolate the values at three known directions to a direction between
/// them.
///
/// The three directions form a Delaunay triangle. The weights are barycentric, as in vector base
/// amplitude panning (Pulkki, J. Audio Eng. Soc. 45, 456, 1997), and sum to 1.
struct SphericalInterpolation {
  private let directions: [SIMD3<Double>]

  /// The number of nearest directions that are considered as corners.
  private static let candidates = 14

  init(_ directions: [SIMD3<Double>]) { self.directions = directions }

  /// Returns the indices of the three directions around `v` and their weights. Returns only the
  /// nearest direction, with the weight 1, if it equals `v` or if no triangle is found. The result
  /// is empty if there are no known directions.
  func weights(at v: SIMD3<Double>) -> [(direction: Int, weight: Double)] {
    let near = nearest(to: v)
    guard let first = near.first else { return [] }
    if distance(directions[first], v) < 1e-12 { return [(first, 1)] }
    for i in near.indices {
      for j in near.indices.dropFirst(i + 1) {
        for k in near.indices.dropFirst(j + 1) {
          let corners = [near[i], near[j], near[k]]
          guard let shares = shares(of: v, in: corners), isEmpty(corners, among: near) else {
            continue
          }
          return zip(corners, shares).map { ($0, $1) }
        }
      }
    }
    return [(first, 1)]
  }

  private func nearest(to v: SIMD3<Double>) -> [Int] {
    var found: [(distance: Double, index: Int)] = []
    var limit = Double.infinity
    for (index, direction) in directions.enumerated() {
      let distance = distance(direction, v)
      guard distance < limit else { continue }
      // Duplicate directions cannot form a triangle.
      if found.contains(where: { self.distance(directions[$0.index], direction) < 1e-10 }) {
        continue
      }
      let place = found.firstIndex { $0.distance > distance } ?? found.count
      found.insert((distance, index), at: place)
      if found.count > Self.candidates { found.removeLast() }
      if found.count == Self.candidates { limit = found[found.count - 1].distance }
    }
    return found.map(\.index)
  }

  private func shares(of v: SIMD3<Double>, in corners: [Int]) -> [Double]? {
    let (a, b, c) = (directions[corners[0]], directions[corners[1]], directions[corners[2]])
    let volume = (a * cross(b, c)).sum()
    guard abs(volume) > 1e-9 else { return nil }
    let raw = [
      (v * cross(b, c)).sum() / volume, (v * cross(c, a)).sum() / volume,
      (v * cross(a, b)).sum() / volume,
    ]
    guard raw.allSatisfy({ $0 > -1e-9 }) else { return nil }
    let positive = raw.map { max(0, $0) }
    let sum = positive.reduce(0, +)
    return positive.map { $0 / sum }
  }

  /// Whether the circle through the corners contains no direction in `near`. Directions inside the
  /// circle are beyond the plane through the corners, as seen from the centre of the sphere.
  private func isEmpty(_ corners: [Int], among near: [Int]) -> Bool {
    let (a, b, c) = (directions[corners[0]], directions[corners[1]], directions[corners[2]])
    var normal = cross(b - a, c - a)
    normal /= normal.length
    let height = (normal * a).sum()
    let side = height < 0 ? -1.0 : 1.0
    return near.allSatisfy { side * ((normal * directions[$0]).sum() - height) < 1e-9 }
  }

  private func distance(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> Double {
    let d = a - b
    return (d * d).sum()
  }
}
