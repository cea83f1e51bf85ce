// SPDX-License-Identifier: Apache-2.0

private import Ambisonics
package import Binaural
package import Geometry
private import Glibc

/// Computes what `BinauralDecoder` outputs for a soundfield, directly from the definition of that
/// output and in double precision.
///
/// Rotation matrices are interpolated linearly between grid points, or along a parabola if linear
/// interpolation would be inaccurate. Convolution is in the time domain. The code shared with
/// `BinauralDecoder` is limited to quaternions, 3 x 3 matrices and `PoseGrid.cellFrames`.
package struct ReferenceDecoder: Sendable {
  private let order: Int
  private let left: [[Double]]
  private let right: [[Double]]
  private let nodes: [Node]

  /// A node of a quadrature on the sphere. The weight is divided by 4 pi.
  private struct Node {
    var direction: SIMD3<Double>
    var weight: Double
    var harmonics: [Double]
  }

  /// Creates a decoder with filters of order 1 to 7.
  package init(filters: BinauralFilters) {
    order = filters.order
    left = filters.left.map { $0.map(Double.init) }
    right = filters.right.map { $0.map(Double.init) }
    nodes = Self.quadrature(order: order)
  }

  /// Returns the number of poses that `decode` needs for `frames` frames.
  package static func poseCount(frames: Int) -> Int {
    (frames + PoseGrid.cellFrames - 1) / PoseGrid.cellFrames + 1
  }

  /// Decodes a complete sound.
  ///
  /// - Parameters:
  ///   - input: channels x frames [ACN, SN3D].
  ///   - poses: `headToWorld` for frames 0, 16, 32, ...; `poseCount(frames:)` poses.
  /// - Returns: the sounds at the left and the right ear, as long as the input.
  package func decode(_ input: [[Float]], poses: [Quaternion]) -> (left: [Double], right: [Double])
  {
    let turned = rotate(input, poses: poses)
    return (Self.convolve(turned, left), Self.convolve(turned, right))
  }

  private func rotate(_ input: [[Float]], poses: [Quaternion]) -> [[Double]] {
    let frames = input[0].count
    let cellFrames = PoseGrid.cellFrames
    var turned = input.map { _ in [Double](repeating: 0, count: frames) }
    var end = matrix(poses[0])
    for cell in 0..<((frames + cellFrames - 1) / cellFrames) {
      let start = end
      end = matrix(poses[cell + 1])
      let middle = middleMatrix(poses[cell], poses[cell + 1])
      for frame in (cell * cellFrames)..<min(frames, (cell + 1) * cellFrames) {
        let along = Double(frame - cell * cellFrames) / Double(cellFrames)
        for l in 0...order {
          for i in (l * l)..<((l + 1) * (l + 1)) {
            var sum = 0.0
            for j in (l * l)..<((l + 1) * (l + 1)) {
              var gain = (1 - along) * start[i][j] + along * end[i][j]
              if let middle {
                let chord = 0.5 * (start[i][j] + end[i][j])
                gain += 4 * along * (1 - along) * (middle[i][j] - chord)
              }
              sum += gain * Double(input[j][frame])
            }
            turned[i][frame] = sum
          }
        }
      }
    }
    return turned
  }

  /// Returns the matrix halfway between the poses of two grid points, for the parabola. Returns nil
  /// if linear interpolation is accurate enough.
  private func middleMatrix(_ a: Quaternion, _ b: Quaternion) -> [[Double]]? {
    let cosine = abs(a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z)
    let halfAngle = acos(min(1, cosine))
    guard 2 * Double(order) * sin(halfAngle) > 0.02 else { return nil }
    return matrix(.slerp(a, b, 0.5))
  }

  /// Returns the sum of the channels `x`, each convolved with its filter in `h` and cut to its
  /// original length.
  private static func convolve(_ x: [[Double]], _ h: [[Double]]) -> [Double] {
    var y = [Double](repeating: 0, count: x[0].count)
    for (x, h) in zip(x, h) {
      for n in 0..<x.count {
        var sum = 0.0
        for k in 0..<min(h.count, n + 1) { sum += h[k] * x[n - k] }
        y[n] += sum
      }
    }
    return y
  }

  // MARK: Rotation matrices

  /// Returns the matrix, outputs x inputs, of the rotation R from world to head.
  ///
  /// Element (i, j) is 0 unless the harmonics Y_i and Y_j have the same degree l. If they do, it is
  /// the integral of Y_i(R d) Y_j(d) over all directions d, times (2 l + 1) / (4 pi).
  private func matrix(_ headToWorld: Quaternion) -> [[Double]] {
    let turn = RotationMatrix(headToWorld.conjugate)
    let count = left.count
    var matrix = [[Double]](repeating: [Double](repeating: 0, count: count), count: count)
    for node in nodes {
      let turned = SphericalHarmonics.evaluate(order: order, turn.rotate(node.direction))
      for l in 0...order {
        let weight = node.weight * Double(2 * l + 1)
        for i in (l * l)..<((l + 1) * (l + 1)) {
          for j in (l * l)..<((l + 1) * (l + 1)) {
            matrix[i][j] += weight * turned[i] * node.harmonics[j]
          }
        }
      }
    }
    return matrix
  }

  /// Returns a quadrature that is exact for products of two harmonics up to `order` [Gauss-Legendre
  /// nodes in height, equal steps in azimuth].
  private static func quadrature(order: Int) -> [Node] {
    let (rings, around) = (order + 1, 2 * order + 1)
    var nodes: [Node] = []
    for ring in 0..<rings {
      // Find one zero of the Legendre polynomial with Newton's method, from Tricomi's estimate.
      var z = cos(Double.pi * (Double(ring) + 0.75) / (Double(rings) + 0.5))
      var slope = 1.0
      for _ in 0..<50 {
        var (before, value) = (1.0, z)
        for l in stride(from: 2, through: rings, by: 1) {
          let next = (Double(2 * l - 1) * z * value - Double(l - 1) * before) / Double(l)
          (before, value) = (value, next)
        }
        slope = Double(rings) * (z * value - before) / (z * z - 1)
        z -= value / slope
      }
      let weight = 1 / ((1 - z * z) * slope * slope) / Double(around)
      for step in 0..<around {
        let azimuth = 2 * Double.pi * Double(step) / Double(around)
        let r = (1 - z * z).squareRoot()
        let direction = SIMD3(r * cos(azimuth), r * sin(azimuth), z)
        nodes.append(
          Node(
            direction: direction, weight: weight,
            harmonics: SphericalHarmonics.evaluate(order: order, direction)))
      }
    }
    return nodes
  }
}
