// SPDX-License-Identifier: Apache-2.0

/// A symmetric 3 x 3 matrix. The initial value is the identity.
struct SymmetricMatrix3 {
  private var values: InlineArray<6, Float> = [1, 0, 1, 0, 0, 1]

  subscript(_ row: Int, _ column: Int) -> Float {
    get { values[Self.place(row, column)] }
    set { values[Self.place(row, column)] = newValue }
  }

  private static func place(_ row: Int, _ column: Int) -> Int {
    let (low, high) = (min(row, column), max(row, column))
    return high * (high + 1) / 2 + low
  }

  /// The inverse, computed from the cofactors. The matrix must be positive definite.
  var inverse: SymmetricMatrix3 {
    let (a, b, c) = (self[0, 0], self[0, 1], self[0, 2])
    let (d, e, f) = (self[1, 1], self[1, 2], self[2, 2])
    var result = SymmetricMatrix3()
    result[0, 0] = d * f - e * e
    result[0, 1] = c * e - b * f
    result[0, 2] = b * e - c * d
    result[1, 1] = a * f - c * c
    result[1, 2] = b * c - a * e
    result[2, 2] = a * d - b * b
    let scale = 1 / (a * result[0, 0] + b * result[0, 1] + c * result[0, 2])
    for i in 0..<3 {
      for j in 0...i { result[i, j] *= scale }
    }
    return result
  }
}
