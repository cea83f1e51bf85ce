// SPDX-License-Identifier: Apache-2.0

import Geometry

/// The orthonormal vectors whose linear combinations approximate the rows of a matrix with the
/// least weighted squared error.
///
/// The vectors span the space of the dominant eigenvectors of the rows' covariance, which is
/// computed without subtracting the mean. The method is orthogonal iteration (Golub and Van Loan,
/// Matrix Computations, 4th edition, section 8.2.4).
struct PrincipalComponents {
  /// The vectors: count x columns.
  let vectors: [[Double]]

  private static let iterations = 24

  /// Computes `count` vectors.
  ///
  /// - Parameters:
  ///   - rows: the values of the matrix, row by row.
  ///   - columns: the number of values in a row.
  ///   - weights: one weight for each row.
  init(rows: [Float], columns: Int, weights: [Double], count: Int) {
    let covariance = Self.covariance(rows, columns, weights)
    // Any initial vectors that are not orthogonal to the result are suitable.
    var seed: UInt64 = 1
    var vectors = (0..<count).map { _ in
      (0..<columns).map { _ in
        seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Double(seed >> 40) / Double(1 << 24) - 0.5
      }
    }
    orthonormalise(&vectors)
    for _ in 0..<Self.iterations {
      vectors = Self.multiply(covariance, columns, vectors)
      orthonormalise(&vectors)
    }
    self.vectors = vectors
  }

  /// Returns the scalar product of every row with every vector: rows x vectors.
  func gains(of rows: [Float]) -> [Float] {
    let columns = vectors[0].count
    let (count, rank) = (rows.count / columns, vectors.count)
    let flat = vectors.flatMap { $0.map(Float.init) }
    var result = [Float](repeating: 0, count: count * rank)
    result.withUnsafeMutableBufferPointer { result in
      let target = SharedMemory(floats: result.baseAddress!)
      concurrently(2) { half in
        rows.withUnsafeBufferPointer { rows in
          flat.withUnsafeBufferPointer { flat in
            for row in stride(from: half, to: count, by: 2) {
              for k in 0..<rank {
                target.floats[row * rank + k] = product(
                  rows.baseAddress! + row * columns, flat.baseAddress! + k * columns, columns)
              }
            }
          }
        }
      }
    }
    return result
  }

  /// Returns the weighted covariance of the rows: columns x columns.
  private static func covariance(
    _ rows: [Float], _ columns: Int, _ weights: [Double]
  ) -> [Float] {
    var sums = [Float](repeating: 0, count: 2 * columns * columns)
    sums.withUnsafeMutableBufferPointer { sums in
      let target = SharedMemory(floats: sums.baseAddress!)
      concurrently(2) { half in
        let sum = target.floats + half * columns * columns
        rows.withUnsafeBufferPointer { rows in
          for row in stride(from: half, to: weights.count, by: 2) {
            let x = rows.baseAddress! + row * columns
            let weight = Float(weights[row])
            for i in 0..<columns { addScaled(x, x[i] * weight, to: sum + i * columns, i + 1) }
          }
        }
      }
    }
    var result = [Float](repeating: 0, count: columns * columns)
    for i in 0..<columns {
      for j in 0...i {
        let sum = sums[i * columns + j] + sums[(columns + i) * columns + j]
        result[i * columns + j] = sum
        result[j * columns + i] = sum
      }
    }
    return result
  }

  private static func multiply(
    _ matrix: [Float], _ columns: Int, _ vectors: [[Double]]
  ) -> [[Double]] {
    var result = vectors
    for (v, vector) in vectors.enumerated() {
      let x = vector.map(Float.init)
      matrix.withUnsafeBufferPointer { matrix in
        x.withUnsafeBufferPointer { x in
          for i in 0..<columns {
            result[v][i] = Double(
              product(matrix.baseAddress! + i * columns, x.baseAddress!, columns))
          }
        }
      }
    }
    return result
  }
}

private func product(_ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, _ count: Int) -> Float {
  var sum = SIMD8<Float>.zero
  var n = 0
  while n + 8 <= count {
    sum +=
      UnsafeRawPointer(a + n).loadUnaligned(as: SIMD8<Float>.self)
      * UnsafeRawPointer(b + n).loadUnaligned(as: SIMD8<Float>.self)
    n += 8
  }
  var total = sum.sum()
  while n < count {
    total += a[n] * b[n]
    n += 1
  }
  return total
}

private func addScaled(
  _ x: UnsafePointer<Float>, _ scale: Float, to sum: UnsafeMutablePointer<Float>, _ count: Int
) {
  for n in 0..<count { sum[n] += x[n] * scale }
}
