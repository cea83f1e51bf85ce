// SPDX-License-Identifier: Apache-2.0

/// Computes the rotation matrix of one degree from degree 1 and the degree below [Ivanic and
/// Ruedenberg 1996, equation 8.1].
///
/// A row has 16 values: column n is at index 8 + n, and values outside the matrix are zero. In row
/// m, column n is b(n) times a sum of at most five terms c T_i(k). T_i(k) combines row i of degree
/// 1 with row k of the degree below [table 2].
///
/// - Parameters:
///   - first: 3 x 3, the matrix of degree 1; rows and columns are in the order y, z, x.
///   - below: the rows of the degree below, 16 values each; points to row 0, in the middle.
///   - above: receives the rows of the degree to compute, in the same form.
///   - degree: the degree to compute, 2 to 7.
///   - coefficients: the factors c, five per row.
///   - places: five pairs per row: the offsets of row i in `first` and row k in `below`.
///   - columns: the factors b(n), 16 values.
@_noLocks
@inline(never)
public func raiseDegree(
  first: UnsafePointer<Double>, below: UnsafePointer<Double>,
  above: UnsafeMutablePointer<Double>, degree: Int, coefficients: UnsafePointer<Double>,
  places: UnsafePointer<Int>, columns: UnsafePointer<Double>
) {
  let l = degree
  for m in -l...l {
    let (list, place) = (coefficients + 5 * (m + l), places + 10 * (m + l))
    let row = above + 16 * m
    var (low, high) = (SIMD8<Double>(repeating: 0), SIMD8<Double>(repeating: 0))
    // The sums for the columns n = l and n = -l.
    var (right, left) = (0.0, 0.0)
    for t in 0..<5 {
      let c = list[t]
      let r = first + place[2 * t]
      let line = below + place[2 * t + 1]
      let (r0, r1, r2) = (c * r[0], SIMD8<Double>(repeating: c * r[1]), c * r[2])
      low = fusedDoubles(r1, eight(line), low)
      high = fusedDoubles(r1, eight(line + 8), high)
      let (x, y) = (line[7 + l], line[9 - l])
      right += x * r2 - y * r0
      left += y * r2 + x * r0
    }
    low *= eight(columns)
    high *= eight(columns + 8)
    put(low, row)
    put(high, row + 8)
    row[8 + l] = right * columns[8 + l]
    row[8 - l] = left * columns[8 - l]
  }
}

@_noLocks
@inline(__always)
private func eight(_ p: UnsafePointer<Double>) -> SIMD8<Double> {
  UnsafeRawPointer(p).assumingMemoryBound(to: SIMD8<Double>.self).pointee
}

@_noLocks
@inline(__always)
private func put(_ v: SIMD8<Double>, _ p: UnsafeMutablePointer<Double>) {
  UnsafeMutableRawPointer(p).assumingMemoryBound(to: SIMD8<Double>.self).pointee = v
}

@_noLocks
@inline(__always)
private func fusedDoubles(
  _ a: SIMD8<Double>, _ b: SIMD8<Double>, _ c: SIMD8<Double>
) -> SIMD8<Double> {
  #if FUSED
    return c.addingProduct(a, b)
  #else
    return a * b + c
  #endif
}
