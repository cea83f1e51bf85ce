// SPDX-License-Identifier: Apache-2.0

private import Ambisonics
private import CRealtime
private import SignalProcessing

/// A decoder for loudspeakers all around, each of them heard through the responses of its place.
///
/// The speakers stand where a quadrature of the sphere has its points, N + 1 rings at Gauss-Legendre
/// heights with 2 N + 2 speakers each: like a spherical design they sample order N exactly. At order
/// 1 they are the corners of a cube. The degrees are weighted for the narrowest spread of energy
/// (max-rE: Zotter and Frank, J. Audio Eng. Soc. 60, 807, 2012, equation 10 with its approximation).
struct VirtualSpeakers {
  let order: Int
  let directions: [SIMD3<Double>]
  /// Shares of the sphere, sum 1.
  let weights: [Double]

  init(order: Int) {
    self.order = order
    let ring = 2 * order + 2
    var (directions, weights) = ([SIMD3<Double>](), [Double]())
    for (height, weight) in gaussLegendre(count: order + 1) {
      let radius = (1 - height * height).squareRoot()
      for i in 0..<ring {
        // Half a step off the front keeps left and right alike.
        let azimuth = 2 * .pi * (Double(i) + 0.5) / Double(ring)
        directions.append(
          SIMD3(radius * realtime_cos(azimuth), radius * realtime_sin(azimuth), height))
        weights.append(weight / 2 / Double(ring))
      }
    }
    (self.directions, self.weights) = (directions, weights)
  }

  /// P_l(cos(137.9 degrees / (N + 1.51))) for degrees 0 to N.
  static func maxREWeights(order: Int) -> [Double] {
    let x = realtime_cos(137.9 / 180 * .pi / (Double(order) + 1.51))
    return (0...order).map { legendre(degree: $0, x).value }
  }

  /// The decoder of every bin of the responses, which must have their gaps filled.
  func decoder(_ responses: DirectionalResponses) -> [EarCoefficients] {
    let between = SphericalInterpolation(responses.directions)
    let shares = directions.map { between.weights(at: $0) }
    let degreeWeights = Self.maxREWeights(order: order)
    let harmonics = zip(directions, weights).map { direction, weight in
      SphericalHarmonics.evaluateN3D(order: order, direction).enumerated().map { channel, y in
        y * weight * degreeWeights[SphericalHarmonics.degree(ofChannel: channel)]
      }
    }
    return (0..<responses.bins).map { k in
      var sums = [[Complex]](
        repeating: .init(repeating: Complex(0), count: harmonics[0].count), count: 2)
      let turn = 2 * .pi * Double(k) * responses.binWidth
      for (s, place) in directions.enumerated() {
        for ear in 0...1 {
          // Between responses that arrive together, then late again by the speaker's own way.
          let own = GapFilling.arrival(place, ear: ear)
          var heard = Complex(0)
          for (d, share) in shares[s] {
            let late = GapFilling.arrival(responses.directions[d], ear: ear) - own
            heard += responses[k, ear, d] * Complex(angle: turn * late) * share
          }
          for (c, y) in harmonics[s].enumerated() { sums[ear][c] += heard * y }
        }
      }
      return EarCoefficients(left: sums[0], right: sums[1])
    }
  }
}

/// Points and weights (sum 2) of the quadrature of Gauss and Legendre on -1 to 1, by Newton's
/// iteration from Tricomi's estimate of the roots.
func gaussLegendre(count: Int) -> [(point: Double, weight: Double)] {
  (0..<count).map { i in
    var x = -realtime_cos(.pi * (Double(i) + 0.75) / (Double(count) + 0.5))
    for _ in 0..<20 {
      let (value, slope) = legendre(degree: count, x)
      x -= value / slope
    }
    let slope = legendre(degree: count, x).slope
    return (x, 2 / ((1 - x * x) * slope * slope))
  }
}

/// Legendre's polynomial and its derivative at x inside -1 to 1.
private func legendre(degree: Int, _ x: Double) -> (value: Double, slope: Double) {
  guard degree > 0 else { return (1, 0) }
  var (previous, current) = (1.0, x)
  for l in 1..<max(1, degree) {
    let next = (Double(2 * l + 1) * x * current - Double(l) * previous) / Double(l + 1)
    (previous, current) = (current, next)
  }
  return (current, Double(degree) * (x * current - previous) / (x * x - 1))
}
