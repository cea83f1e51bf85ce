// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
private import Geometry

/// Pans a sound between loudspeakers with constant energy.
///
/// The method is vector base amplitude panning (Pulkki, J. Audio Eng. Soc. 45, 456, 1997) over the
/// triangles of the loudspeakers' convex hull. If no loudspeaker is more than 30 degrees above the
/// horizontal plane, an imaginary loudspeaker is added at the top; the same applies to the bottom.
/// The real loudspeakers share the gain of an imaginary one equally. Loudspeakers for low-frequency
/// effects stay silent.
public struct AmplitudePanner: Sendable {
  /// The number of gains per direction: one for each loudspeaker.
  public let outputs: Int

  /// Three points by index. `rows` is the inverse of the 3 x 3 matrix whose columns are the vectors
  /// to these points.
  private struct Triangle {
    let corners: [Int]
    let rows: [SIMD3<Double>]
  }

  private let triangles: [Triangle]
  /// The index of the output at each corner; nil for an imaginary loudspeaker.
  private let outputOfCorner: [Int?]
  private let placed: [Int]

  /// Computes the triangles between a set of loudspeakers.
  ///
  /// - Parameter speakers: the loudspeakers of one layout, at least three of them around the
  ///   listener.
  public init(speakers: [Speaker]) {
    outputs = speakers.count
    var places: [SIMD3<Double>] = []
    var outputOfCorner: [Int?] = []
    for (output, speaker) in speakers.enumerated() {
      guard let direction = speaker.direction(in: speakers) else { continue }
      places.append(direction.unitVector)
      outputOfCorner.append(output)
    }
    placed = outputOfCorner.compactMap { $0 }
    for z in [1.0, -1] where !places.contains(where: { $0.z * z > 0.5 }) {
      places.append(SIMD3(0, 0, z))
      outputOfCorner.append(nil)
    }
    self.outputOfCorner = outputOfCorner
    triangles = Self.hull(of: places)
  }

  /// Returns the gains for a direction, one for each loudspeaker. Their squares add up to 1; if no
  /// triangle contains the direction, all gains are 0.
  ///
  /// - Parameter v: the unit vector from the listener to the sound.
  public func gains(_ v: SIMD3<Double>) -> [Double] {
    var gains = [Double](repeating: 0, count: outputs)
    var spread = 0.0
    // A direction on an edge, or in a face with more than three corners, is in several triangles:
    // add their gains.
    for triangle in triangles {
      let shares = triangle.rows.map { dot($0, v) }
      guard shares.allSatisfy({ $0 > -1e-9 }) else { continue }
      let scale = 1 / shares.reduce(0) { $0 + $1 * $1 }.squareRoot()
      for (corner, share) in zip(triangle.corners, shares) where share > 1e-9 {
        if let output = outputOfCorner[corner] {
          gains[output] += share * scale
        } else {
          spread += share * scale
        }
      }
    }
    if spread > 0 {
      let part = spread / Double(placed.count).squareRoot()
      for output in placed { gains[output] += part }
    }
    let energy = gains.reduce(0) { $0 + $1 * $1 }
    return energy > 0 ? gains.map { $0 / energy.squareRoot() } : gains
  }

  /// Returns the triangles of the convex hull. Triangles whose plane contains the listener are left
  /// out.
  private static func hull(of points: [SIMD3<Double>]) -> [Triangle] {
    var triangles: [Triangle] = []
    for i in points.indices {
      for j in points.indices where j > i {
        for k in points.indices where k > j {
          let (a, b, c) = (points[i], points[j], points[k])
          let normal = cross(b - a, c - a)
          let volume = dot(a, cross(b, c))
          guard abs(volume) > 1e-6 else { continue }
          let sides = points.map { dot(normal, $0 - a) }
          guard sides.allSatisfy({ $0 < 1e-9 }) || sides.allSatisfy({ $0 > -1e-9 }) else {
            continue
          }
          let rows = [cross(b, c), cross(c, a), cross(a, b)].map { $0 / volume }
          triangles.append(Triangle(corners: [i, j, k], rows: rows))
        }
      }
    }
    return triangles
  }
}

private func dot(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> Double { (a * b).sum() }

private func cross(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> SIMD3<Double> {
  SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
}
