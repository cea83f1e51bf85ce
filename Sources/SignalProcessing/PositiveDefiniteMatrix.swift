// SPDX-License-Identifier: Apache-2.0

/// The inverse of a symmetric positive definite matrix by Cholesky's factors.
///
/// Golub and Van Loan, Matrix Computations, 4th edition, algorithm 4.2.1.
///
/// - Parameters:
///   - matrix: size x size values, rows first; only the lower triangle is read.
///   - size: rows and columns of the matrix.
/// - Returns: the inverse; nil where the matrix is not positive definite.
public func inversePositiveDefinite(_ matrix: [Double], size: Int) -> [Double]? {
  precondition(matrix.count == size * size)
  var factor = [Double](repeating: 0, count: size * size)
  for i in 0..<size {
    for j in 0...i {
      var sum = matrix[i * size + j]
      for k in 0..<j { sum -= factor[i * size + k] * factor[j * size + k] }
      if i == j {
        guard sum > 0, sum.isFinite else { return nil }
        factor[i * size + i] = sum.squareRoot()
      } else {
        factor[i * size + j] = sum / factor[j * size + j]
      }
    }
  }
  var inverse = [Double](repeating: 0, count: size * size)
  for column in 0..<size {
    var x = [Double](repeating: 0, count: size)
    for i in column..<size {
      var sum = i == column ? 1.0 : 0.0
      for k in column..<i { sum -= factor[i * size + k] * x[k] }
      x[i] = sum / factor[i * size + i]
    }
    for i in stride(from: size - 1, through: 0, by: -1) {
      var sum = x[i]
      for k in stride(from: i + 1, to: size, by: 1) { sum -= factor[k * size + i] * x[k] }
      x[i] = sum / factor[i * size + i]
    }
    for i in 0..<size { inverse[i * size + column] = x[i] }
  }
  return inverse
}
