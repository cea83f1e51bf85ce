// SPDX-License-Identifier: Apache-2.0

private import CRealtime

// The algorithms are from Golub and Van Loan, Matrix Computations, 4th edition. Matrices are stored
// row by row.

// MARK: Positive definite matrices (algorithm 4.2.1)

/// The Cholesky decomposition of symmetric positive definite matrices into L L', where L is lower
/// triangular and L' is its transpose.
public enum Cholesky {
  /// Replaces a matrix by its factor L. Only the lower triangle is read and written.
  ///
  /// - Parameters:
  ///   - matrix: size x size values.
  ///   - size: the number of rows and of columns.
  ///   - floor: the minimum of the squared diagonal elements of L. Smaller squares are raised to
  ///     it. If nil, `limit` applies.
  ///   - limit: the value that the squared diagonal elements of L must exceed.
  /// - Returns: false if `limit` applies and a squared diagonal element of L does not exceed it or
  ///   is not finite; otherwise true.
  public static func factor(
    _ matrix: inout MutableSpan<Double>, size: Int, floor: Double? = nil, limit: Double = 0
  ) -> Bool {
    for i in 0..<size {
      for j in 0...i {
        var sum = matrix[i * size + j]
        for k in 0..<j { sum -= matrix[i * size + k] * matrix[j * size + k] }
        if i != j {
          matrix[i * size + j] = sum / matrix[j * size + j]
        } else if let floor {
          matrix[i * size + i] = realtime_sqrt(max(sum, floor))
        } else {
          guard sum > limit, sum.isFinite else { return false }
          matrix[i * size + i] = realtime_sqrt(sum)
        }
      }
    }
    return true
  }

  /// Replaces a right-hand side x by the solution y of L L' y = x.
  ///
  /// - Parameters:
  ///   - factor: L; only the lower triangle is read.
  ///   - x: the right-hand side.
  ///   - start: the index of the first element of the right-hand side that may differ from 0.
  public static func solve(
    _ factor: borrowing MutableSpan<Double>, _ x: inout MutableSpan<Double>, from start: Int = 0
  ) {
    let size = x.count
    for i in start..<size {
      var sum = x[i]
      for k in start..<i { sum -= factor[i * size + k] * x[k] }
      x[i] = sum / factor[i * size + i]
    }
    for i in stride(from: size - 1, through: 0, by: -1) {
      var sum = x[i]
      for k in i + 1..<size { sum -= factor[k * size + i] * x[k] }
      x[i] = sum / factor[i * size + i]
    }
  }

  /// Returns the inverse of a symmetric positive definite matrix; nil if the matrix is not positive
  /// definite.
  ///
  /// - Parameters:
  ///   - matrix: size x size values; only the lower triangle is read.
  ///   - size: the number of rows and of columns.
  public static func inverse(_ matrix: [Double], size: Int) -> [Double]? {
    precondition(matrix.count == size * size)
    var factor = matrix
    var lower = factor.mutableSpan
    guard self.factor(&lower, size: size) else { return nil }
    var inverse = [Double](repeating: 0, count: size * size)
    for column in 0..<size {
      var x = [Double](repeating: 0, count: size)
      x[column] = 1
      var side = x.mutableSpan
      solve(lower, &side, from: column)
      for i in 0..<size { inverse[i * size + column] = x[i] }
    }
    return inverse
  }

  /// Returns the solution of a symmetric positive definite system of linear equations; nil if the
  /// factorisation fails.
  ///
  /// - Parameters:
  ///   - matrix: size x size values; only the lower triangle is read.
  ///   - side: the right-hand side.
  ///   - limit: as for `factor`.
  public static func solution(
    _ matrix: [Double], _ side: [Double], limit: Double = 0
  ) -> [Double]? {
    var (factor, solution) = (matrix, side)
    var lower = factor.mutableSpan
    guard self.factor(&lower, size: side.count, limit: limit) else { return nil }
    var x = solution.mutableSpan
    solve(lower, &x)
    return solution
  }
}

// MARK: Eigenvectors (section 8.5)

/// Computes the eigenvalues and eigenvectors of symmetric 4 x 4 matrices by Jacobi rotations.
@frozen
public struct SymmetricEigen: ~Copyable {
  /// The matrix to decompose, 4 x 4. `decompose` overwrites it.
  public let matrix: UnsafeMutablePointer<Double>
  /// The eigenvectors, 4 x 4: row i contains the eigenvector of eigenvalue i.
  @usableFromInline let vectors: UnsafeMutablePointer<Double>

  public init() {
    matrix = .allocate(capacity: 32)
    matrix.initialize(repeating: 0, count: 32)
    vectors = matrix + 16
  }

  deinit { matrix.deallocate() }

  @_noLocks
  @inlinable
  public func value(_ i: Int) -> Double { matrix[5 * i] }

  @_noLocks
  @inlinable
  public func vector(_ i: Int) -> SIMD4<Double> {
    SIMD4(vectors[4 * i], vectors[4 * i + 1], vectors[4 * i + 2], vectors[4 * i + 3])
  }

  /// Computes the eigenvalues, in descending order, and the eigenvectors of `matrix`.
  @_noLocks
  public func decompose() {
    for i in 0..<16 { vectors[i] = i % 5 == 0 ? 1 : 0 }
    let scale = matrix[0] + matrix[5] + matrix[10] + matrix[15]
    for _ in 0..<8 {
      var rest = 0.0
      for i in 0..<3 { for j in (i + 1)..<4 { rest += matrix[4 * i + j] * matrix[4 * i + j] } }
      if rest <= 1e-24 * scale * scale { break }
      for i in 0..<3 { for j in (i + 1)..<4 { rotate(i, j) } }
    }
    for i in 0..<3 {
      var best = i
      for j in (i + 1)..<4 where value(j) > value(best) { best = j }
      if best != i { exchange(i, best) }
    }
  }

  @_noLocks
  private func rotate(_ p: Int, _ q: Int) {
    let off = matrix[4 * p + q]
    if off == 0 { return }
    let theta = (value(q) - value(p)) / (2 * off)
    let t = (theta >= 0 ? 1.0 : -1.0) / (abs(theta) + realtime_sqrt(theta * theta + 1))
    let c = 1 / realtime_sqrt(t * t + 1)
    let s = t * c
    for k in 0..<4 {
      let (a, b) = (matrix[4 * k + p], matrix[4 * k + q])
      matrix[4 * k + p] = c * a - s * b
      matrix[4 * k + q] = s * a + c * b
    }
    for k in 0..<4 {
      let (a, b) = (matrix[4 * p + k], matrix[4 * q + k])
      matrix[4 * p + k] = c * a - s * b
      matrix[4 * q + k] = s * a + c * b
      let (u, v) = (vectors[4 * p + k], vectors[4 * q + k])
      vectors[4 * p + k] = c * u - s * v
      vectors[4 * q + k] = s * u + c * v
    }
  }

  @_noLocks
  private func exchange(_ i: Int, _ j: Int) {
    let kept = value(i)
    matrix[5 * i] = value(j)
    matrix[5 * j] = kept
    for k in 0..<4 {
      let v = vectors[4 * i + k]
      vectors[4 * i + k] = vectors[4 * j + k]
      vectors[4 * j + k] = v
    }
  }
}

// MARK: Orthonormal vectors (section 5.2.8)

/// Makes vectors orthonormal in place by the modified Gram-Schmidt method. A vector is not
/// normalised if its component orthogonal to the earlier vectors has a length of 1e-200 or less.
public func orthonormalise(_ vectors: inout [[Double]]) {
  for i in vectors.indices {
    for _ in 0..<2 {
      for j in 0..<i {
        let share = zip(vectors[i], vectors[j]).reduce(0) { $0 + $1.0 * $1.1 }
        for n in vectors[i].indices { vectors[i][n] -= share * vectors[j][n] }
      }
      let length = vectors[i].reduce(0) { $0 + $1 * $1 }.squareRoot()
      guard length > 1e-200 else { break }
      for n in vectors[i].indices { vectors[i][n] /= length }
    }
  }
}
