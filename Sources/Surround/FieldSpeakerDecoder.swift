// SPDX-License-Identifier: Apache-2.0

public import Ambisonics
private import CRealtime

/// Decodes a soundfield to loudspeakers by all-round ambisonic decoding (AllRAD).
///
/// With max-rE weights, the soundfield is decoded to points all over the sphere. Each point is
/// panned between the loudspeakers (Zotter and Frank, J. Audio Eng. Soc. 60, 807, 2012). The energy
/// is preserved on average over all directions.
public enum FieldSpeakerDecoder {
  /// Returns the gains of the decoder.
  ///
  /// - Parameters:
  ///   - order: the order of the soundfield. Its channels are in ACN order and SN3D scale.
  ///   - speakers: the loudspeakers of one layout. Loudspeakers for low-frequency effects stay
  ///     silent.
  /// - Returns: loudspeakers x (order + 1)^2.
  public static func gains(order: Int, speakers: [Speaker]) -> [[Double]] {
    let panner = AmplitudePanner(speakers: speakers)
    let count = SphericalHarmonics.channelCount(order: order)
    let weights = degreeWeights(order: order)
    let points = spherePoints()
    let fields = points.map { SphericalHarmonics.evaluate(order: order, $0) }
    var decoder = [[Double]](repeating: .init(repeating: 0, count: count), count: speakers.count)
    for (point, field) in zip(points, fields) {
      let shares = panner.gains(point)
      for (s, share) in shares.enumerated() where share != 0 {
        for c in 0..<count {
          decoder[s][c] += share * field[c] * weights[SphericalHarmonics.degree(ofChannel: c)]
        }
      }
    }
    let energy = fields.reduce(0.0) { sum, field in
      sum + decoder.reduce(0.0) { $0 + square(dot($1, field)) }
    }
    let scale = 1 / (energy / Double(points.count)).squareRoot()
    return decoder.map { $0.map { abs($0 * scale) < 1e-12 ? 0 : $0 * scale } }
  }

  /// Returns the max-rE weights of degrees 0 to `order`.
  ///
  /// For order N, degree l has the weight (2 l + 1) P_l(cos(137.9 degrees / (N + 1.51))), where P_l
  /// is a Legendre polynomial (Zotter and Frank 2012, equation 10).
  private static func degreeWeights(order: Int) -> [Double] {
    let x = realtime_cos(137.9 / 180 * .pi / (Double(order) + 1.51))
    var legendre = [1.0, x]
    for l in 1..<max(1, order) {
      let next = Double(2 * l + 1) * x * legendre[l] - Double(l) * legendre[l - 1]
      legendre.append(next / Double(l + 1))
    }
    return (0...order).map { degree -> Double in Double(2 * degree + 1) * legendre[degree] }
  }

  /// Returns 2000 unit vectors: a spiral of 1000 points (Swinbank and Purser 2006) and its mirror
  /// image.
  private static func spherePoints() -> [SIMD3<Double>] {
    let count = 1000
    let golden = .pi * (3 - 5.0.squareRoot())
    return (0..<count).flatMap { i in
      let z = 1 - (2 * Double(i) + 1) / Double(count)
      let radius = (1 - z * z).squareRoot()
      let (x, y) = (realtime_cos(golden * Double(i)), realtime_sin(golden * Double(i)))
      return [1.0, -1].map { SIMD3(radius * x, $0 * radius * y, z) }
    }
  }

  private static func dot(_ a: [Double], _ b: [Double]) -> Double {
    zip(a, b).reduce(0) { $0 + $1.0 * $1.1 }
  }

  private static func square(_ x: Double) -> Double { x * x }
}
