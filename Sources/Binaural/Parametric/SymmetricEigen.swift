// SPDX-License-Identifier: Apache-2.0

private import CRealtime

/// Eigenvalues and eigenvectors of symmetric 4 x 4 matrices by Jacobi's rotations, in memory of its
/// own (Golub, Van Loan, "Matrix Computations", section 8.5).
struct SymmetricEigen: ~Copyable {
  /// Row by row; destroyed by `decompose`, which leaves the eigenvalues on the diagonal.
  let matrix: UnsafeMutablePointer<Double>
  /// Row i holds the eigenvector of eigenvalue i.
  let vectors: UnsafeMutablePointer<Double>

  init() {
    matrix = .allocate(capacity: 32)
    matrix.initialize(repeating: 0, count: 32)
    vectors = matrix + 16
  }

  deinit { matrix.deallocate() }

  @_noLocks
  func value(_ i: Int) -> Double { matrix[5 * i] }

  @_noLocks
  func vector(_ i: Int) -> SIMD4<Double> {
    SIMD4(vectors[4 * i], vectors[4 * i + 1], vectors[4 * i + 2], vectors[4 * i + 3])
  }

  /// Decomposes; the eigenvalues are in falling order afterwards.
  @_noLocks
  func decompose() {
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
