// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Geometry

/// Learns five coefficients for each of the three axes by least squares, with a fading memory and a
/// prior.
///
/// The method is Bayesian ridge regression (D. MacKay, Neural Computation 1992) with exponential
/// forgetting.
///
/// The coefficients of an axis are learned mainly from the motion about that axis, because heads
/// nod and turn differently. The weight of the prior increases with the mean squared prediction
/// error and with the look-ahead. Unpredictable motion thus changes the coefficients little.
struct RidgeLearner: Sendable {
  /// Five coefficients, each with one component per axis.
  typealias Coefficients = InlineArray<5, SIMD3<Double>>
  private typealias Row = InlineArray<5, Double>
  private typealias Matrix = InlineArray<25, Double>

  /// Time constant of the memory, in seconds.
  static let memory = 3.0
  /// Weight of the prior per second of look-ahead and per rad^2/s^2 of mean squared prediction
  /// error.
  static let caution = 2.0
  /// Smallest weight of the prior, in rad^2/s.
  static let leastWeight = 0.003
  /// Smallest speed that counts as motion, in rad/s.
  static let slow = 0.17
  /// Weight of the motion about each of the other two axes when the coefficients of an axis are
  /// learned. The weight of the motion about the axis itself is 1.
  static let share = 0.1

  private let prior: Row
  private let lookAhead: Double
  private(set) var coefficients: Coefficients
  /// For each pair of features, the weighted sum of their products, in rad^2/s. The upper triangle
  /// is not used.
  private var products = InlineArray<25, SIMD3<Double>>(repeating: .zero)
  /// For each feature, the weighted sum of its products with the prior's prediction error, in
  /// rad^2/s.
  private var rests = Coefficients(repeating: .zero)
  /// The weighted sum of the prior's squared prediction errors, in rad^2/s.
  private var unexplained = SIMD3<Double>.zero
  /// Seconds of motion in the memory.
  private var motion = 0.0

  /// Creates a learner. The look-ahead is in seconds.
  init(prior: [Double], lookAhead: Double) {
    var row = Row(repeating: 0)
    var coefficients = Coefficients(repeating: .zero)
    for index in 0..<5 {
      row[index] = prior[index]
      coefficients[index] = SIMD3(repeating: row[index])
    }
    self.prior = row
    self.coefficients = coefficients
    self.lookAhead = lookAhead
  }

  /// Learns from `mean`, the mean velocity that followed the given features. Velocities are in
  /// rad/s, and the weight is in seconds.
  mutating func learn(_ features: MotionFeatures.Values, mean: SIMD3<Double>, weight: Double) {
    let keep = realtime_exp(-weight / Self.memory)
    var rest = mean
    for i in 0..<5 { rest -= features[i] * prior[i] }
    for i in 0..<5 {
      let weighted = features[i] * weight
      for j in 0...i { products[5 * i + j] = products[5 * i + j] * keep + weighted * features[j] }
      rests[i] = rests[i] * keep + weighted * rest
    }
    unexplained = unexplained * keep + rest * rest * weight
    var square = (mean * mean).sum()
    for i in 0..<5 { square = max(square, (features[i] * features[i]).sum()) }
    motion = keep * motion + (square > Self.slow * Self.slow ? weight : 0)
  }

  mutating func solve() {
    var change = Coefficients(repeating: .zero)
    for i in 0..<5 { change[i] = coefficients[i] - prior[i] }
    let left = residual(change)
    let weight = Self.caution * lookAhead / (motion + 0.05)
    for axis in 0..<3 {
      let own = solution(
        matrix { Self.part($0, axis) }, row { Self.part($0, axis) },
        ridge: weight * Self.part(left, axis) + Self.leastWeight)
      for i in 0..<5 { coefficients[i][axis] = prior[i] + own[i] }
    }
  }

  /// Returns the value for one axis, plus the fraction `share` of the values for the other axes.
  private static func part(_ value: SIMD3<Double>, _ axis: Int) -> Double {
    let own = value[axis]
    return own + Self.share * (value.sum() - own)
  }

  /// Returns the weighted sum of the squared prediction errors that the present coefficients cause,
  /// for each axis, in rad^2/s. `change` is the present coefficients minus the prior.
  private func residual(_ change: Coefficients) -> SIMD3<Double> {
    var sum = unexplained
    for i in 0..<5 {
      sum -= change[i] * rests[i] * 2
      for j in 0..<5 { sum += change[i] * change[j] * products[5 * max(i, j) + min(i, j)] }
    }
    return SIMD3(max(0, sum.x), max(0, sum.y), max(0, sum.z))
  }

  private func matrix(_ part: (SIMD3<Double>) -> Double) -> Matrix {
    var result = Matrix(repeating: 0)
    for i in 0..<5 {
      for j in 0...i { result[5 * i + j] = part(products[5 * i + j]) }
    }
    return result
  }

  private func row(_ part: (SIMD3<Double>) -> Double) -> Row {
    var result = Row(repeating: 0)
    for i in 0..<5 { result[i] = part(rests[i]) }
    return result
  }

  /// Solves `(products + ridge * identity) x = rests` for `x` by Cholesky decomposition. The ridge
  /// keeps the matrix positive definite.
  private func solution(_ products: Matrix, _ rests: Row, ridge: Double) -> Row {
    var (lower, solution) = (products, rests)
    for i in 0..<5 { lower[6 * i] += ridge }
    var factor = lower.mutableSpan
    var x = solution.mutableSpan
    _ = Cholesky.factor(&factor, size: 5, floor: 1e-12)
    Cholesky.solve(factor, &x)
    return solution
  }
}
