// SPDX-License-Identifier: Apache-2.0

import CRealtime

/// Five coefficients shared by the three axes, learned by least squares with a fading memory and
/// drawn to a prior where the memory holds little (ridge regression, Hoerl and Kennard,
/// Technometrics 1970; exponential forgetting as in recursive least squares).
struct RidgeLearner: Sendable {
  typealias Coefficients = InlineArray<5, Double>

  /// Time constant of the memory, seconds.
  static let memory = 3.0
  /// Weight of the prior: as much as this much motion, rad^2/s (a second at 10 degrees a second).
  static let priorWeight = 0.03

  private let prior: Coefficients
  /// Sum of feature products, rad^2/s, and of features times what the prior left unexplained.
  private var products = InlineArray<25, Double>(repeating: 0)
  private var rests = Coefficients(repeating: 0)

  init(prior: [Double]) {
    var coefficients = Coefficients(repeating: 0)
    for index in 0..<5 { coefficients[index] = prior[index] }
    self.prior = coefficients
  }

  /// Takes note of what came of these features.
  ///
  /// - Parameters:
  ///   - features: rad/s.
  ///   - mean: the mean velocity that followed, rad/s.
  ///   - weight: seconds that the pair stands for.
  mutating func learn(_ features: MotionFeatures.Values, mean: SIMD3<Double>, weight: Double) {
    let keep = realtime_exp(-weight / Self.memory)
    var rest = mean
    for i in 0..<5 { rest -= features[i] * prior[i] }
    for i in 0..<5 {
      for j in 0...i {
        let product = (features[i] * features[j]).sum()
        products[5 * i + j] = keep * products[5 * i + j] + weight * product
      }
      rests[i] = keep * rests[i] + weight * (features[i] * rest).sum()
    }
  }

  /// The coefficients: the prior plus the solution of (products + ridge) x = rests by Cholesky's
  /// decomposition, which the ridge keeps positive definite.
  var coefficients: Coefficients {
    var lower = products
    for i in 0..<5 { lower[6 * i] += Self.priorWeight }
    var x = rests
    for j in 0..<5 {
      for i in j..<5 {
        var sum = lower[5 * i + j]
        for k in 0..<j { sum -= lower[5 * i + k] * lower[5 * j + k] }
        lower[5 * i + j] = i == j ? realtime_sqrt(max(sum, 1e-12)) : sum / lower[6 * j]
      }
    }
    for i in 0..<5 {
      for k in 0..<i { x[i] -= lower[5 * i + k] * x[k] }
      x[i] /= lower[6 * i]
    }
    for i in stride(from: 4, through: 0, by: -1) {
      for k in (i + 1)..<5 { x[i] -= lower[5 * k + i] * x[k] }
      x[i] /= lower[6 * i]
    }
    for i in 0..<5 { x[i] += prior[i] }
    return x
  }
}
