// SPDX-License-Identifier: Apache-2.0

import CRealtime

/// Five coefficients shared by the three axes, learned by least squares with a fading memory and
/// drawn to a prior (Bayesian ridge regression, D. MacKay, Neural Computation 1992; exponential
/// forgetting as in recursive least squares).
///
/// The prior weighs as much as what the coefficients leave unexplained while the head moves, times
/// the look-ahead, over which errors hang together: a motion that cannot be foreseen, as the
/// beginning of a turn, changes the coefficients little, and one that can changes them at once.
struct RidgeLearner: Sendable {
  typealias Coefficients = InlineArray<5, Double>

  /// Time constant of the memory, seconds.
  static let memory = 3.0
  /// Weight of the prior for each unexplained rad^2/s^2 and second of look-ahead.
  static let caution = 2.0
  /// The least weight of the prior, rad^2/s: a second at 3 degrees a second.
  static let leastWeight = 0.003
  /// Slower motion than this is none, rad/s.
  static let slow = 0.17

  private let prior: Coefficients
  private let lookAhead: Double
  private(set) var coefficients: Coefficients
  /// Sum of feature products, rad^2/s, and of features times what the prior left unexplained.
  private var products = InlineArray<25, Double>(repeating: 0)
  private var rests = Coefficients(repeating: 0)
  /// Of the squares of what the prior left unexplained, rad^2/s.
  private var unexplained = 0.0
  /// Seconds of motion in the memory.
  private var motion = 0.0

  /// - Parameters:
  ///   - prior: the coefficients to begin with.
  ///   - lookAhead: seconds.
  init(prior: [Double], lookAhead: Double) {
    var coefficients = Coefficients(repeating: 0)
    for index in 0..<5 { coefficients[index] = prior[index] }
    self.prior = coefficients
    self.coefficients = coefficients
    self.lookAhead = lookAhead
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
    unexplained = keep * unexplained + weight * (rest * rest).sum()
    var square = (mean * mean).sum()
    for i in 0..<5 { square = max(square, (features[i] * features[i]).sum()) }
    motion = keep * motion + (square > Self.slow * Self.slow ? weight : 0)
  }

  /// Renews the coefficients from what was learned.
  mutating func solve() {
    let error = residual / (motion + 0.05)
    let change = solution(ridge: Self.caution * lookAhead * error + Self.leastWeight)
    for i in 0..<5 { coefficients[i] = prior[i] + change[i] }
  }

  /// Of the squares of what the present coefficients leave unexplained, rad^2/s.
  private var residual: Double {
    var sum = unexplained
    for i in 0..<5 {
      let change = coefficients[i] - prior[i]
      sum -= 2 * change * rests[i]
      for j in 0..<5 {
        sum += change * (coefficients[j] - prior[j]) * products[5 * max(i, j) + min(i, j)]
      }
    }
    return max(0, sum)
  }

  /// (products + ridge) x = rests by Cholesky's decomposition; the ridge keeps it positive definite.
  private func solution(ridge: Double) -> Coefficients {
    var lower = products
    for i in 0..<5 { lower[6 * i] += ridge }
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
    return x
  }
}
