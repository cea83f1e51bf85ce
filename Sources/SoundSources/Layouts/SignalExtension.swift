// SPDX-License-Identifier: Apache-2.0

private import Geometry
internal import Rendering
private import SignalProcessing

/// Extrapolates a sound beyond its end by linear prediction (I. Kauppinen and K. Roth, "Audio
/// signal extrapolation: theory and applications", Proc. DAFx, 2002).
///
/// The coefficients minimise the squared forward and backward errors (modified covariance method:
/// L. Marple, IEEE Trans. ASSP 28(4), 1980). A small value is added to the diagonal of the
/// covariance matrix, so that the coefficients do not follow the rounding errors of pure tones. If
/// the coefficients cannot be computed, or if their prediction exceeds the peak of the past by more
/// than 2 %, they are computed by Burg's method instead.
enum SignalExtension {
  /// The number of prediction coefficients.
  static let order = 64
  /// The value that is added to the diagonal of the covariance matrix, relative to `energy` in
  /// `prediction`.
  private static let loading = 1e-7

  /// Predicts the continuation of a sound.
  ///
  /// - Parameters:
  ///   - past: the last samples, the newest last.
  ///   - frames: the number of samples to predict.
  /// - Returns: `frames` samples, limited to the peak of the past. They are 0 if the past is silent
  ///   or has at most 3 * `order` samples.
  static func after(_ past: [Float], frames: Int) -> [Float] {
    let limit = Double(past.reduce(0) { max($0, abs($1)) })
    return past.map(Double.init).withUnsafeBufferPointer { x in
      guard limit > 0, x.count > 3 * order else { return [Float](repeating: 0, count: frames) }
      var line = prediction(x).map { extended(x, by: $0, frames) } ?? []
      if line.count < frames || !line.allSatisfy({ abs($0) <= 1.02 * limit }) {
        line = extended(x, by: stablePrediction(x), frames)
      }
      return line.map { Float(max(-limit, min(limit, $0))) }
    }
  }

  private static func extended(
    _ x: UnsafeBufferPointer<Double>, by terms: [Double], _ frames: Int
  ) -> [Double] {
    var line = Array(x.suffix(order))
    line.reserveCapacity(order + frames)
    for _ in 0..<frames {
      let end = line.count
      var next = 0.0
      for (k, a) in terms.enumerated() { next += a * line[end - 1 - k] }
      line.append(next)
    }
    return Array(line.dropFirst(order))
  }

  /// Returns the coefficients of a linear predictor, computed by Burg's method. Unlike the
  /// predictor from `prediction`, this one is always stable, but it detunes tones slightly.
  /// [J. Burg, "Maximum entropy spectral analysis", 1967; Levinson's recursion]
  private static func stablePrediction(_ x: UnsafeBufferPointer<Double>) -> [Double] {
    var (forward, backward) = (Array(x), Array(x))
    var terms: [Double] = []
    for m in 1...order {
      var (product, energy) = (0.0, 1e-30)
      for n in m..<x.count {
        product += forward[n] * backward[n - 1]
        energy += forward[n] * forward[n] + backward[n - 1] * backward[n - 1]
      }
      let reflection = 2 * product / energy
      for n in stride(from: x.count - 1, through: m, by: -1) {
        let (f, b) = (forward[n], backward[n - 1])
        (forward[n], backward[n]) = (f - reflection * b, b - reflection * f)
      }
      let old = terms
      for k in old.indices { terms[k] -= reflection * old[old.count - 1 - k] }
      terms.append(reflection)
    }
    return terms
  }

  /// Returns the coefficients `a(k)` that predict `x(n)` as the sum of `a(k) x(n - k)` for `k` from
  /// 1 to `order`. Returns nil if the energy of the sound is 0 or not finite, or if the equations
  /// cannot be solved.
  private static func prediction(_ x: UnsafeBufferPointer<Double>) -> [Double]? {
    let p = order
    /// Returns the sum of x(n - j) x(n - k) over the sound and over its time reversal.
    func product(_ j: Int, _ k: Int) -> Double {
      var sum = 0.0
      for n in p..<x.count {
        sum += x[n - j] * x[n - k] + x[n - p + j] * x[n - p + k]
      }
      return sum
    }
    let energy = product(0, 0)
    guard energy > 0, energy.isFinite else { return nil }
    var matrix = [Double](repeating: 0, count: p * p)
    var target = [Double](repeating: 0, count: p)
    for j in 1...p {
      target[j - 1] = product(0, j)
      for k in j...p {
        let value = product(j, k)
        matrix[(j - 1) * p + k - 1] = value
        matrix[(k - 1) * p + j - 1] = value
      }
      matrix[(j - 1) * p + j - 1] += loading * energy
    }
    return Cholesky.inverse(matrix, size: p).map { inverse in
      (0..<p).map { row in (0..<p).reduce(0) { $0 + inverse[row * p + $1] * target[$1] } }
    }
  }
}
