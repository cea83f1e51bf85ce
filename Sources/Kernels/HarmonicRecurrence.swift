// SPDX-License-Identifier: Apache-2.0

/// The rows of a rotation matrix of one degree out of those of the degree below (Ivanic and
/// Ruedenberg 1996, equation 8.1).
///
/// Column n of any row lies at 8 + n of its 16 values, the others are zero. Row m is
/// b(n) times a sum of at most five terms c T_i(k): T is row i of degree 1 with row k of the degree below
/// (table 2), c and (i, k) depend on m alone.
///
/// - Parameters:
///   - first: 3 x 3, the matrix of degree 1, rows and columns in the order y, z, x.
///   - below: rows of the degree below, 16 values each, its row 0 in the middle.
///   - above: receives the rows of the degree, its row 0 in the middle.
///   - degree: from 2 to 7.
///   - terms: five a row: coefficient, i (-1, 0, 1), k.
///   - columns: b(n): 16 values.
@_noLocks
@inline(never)
public func raiseDegree(
  first: UnsafePointer<Double>, below: UnsafePointer<Double>,
  above: UnsafeMutablePointer<Double>, degree: Int, terms: UnsafePointer<Double>,
  columns: UnsafePointer<Double>
) {
  let l = degree
  for m in -l...l {
    let list = terms + 15 * (m + l)
    let row = above + 16 * m
    var (low, high) = (SIMD8<Double>(repeating: 0), SIMD8<Double>(repeating: 0))
    // The columns n = l and -l.
    var ends = SIMD2<Double>(repeating: 0)
    for t in 0..<5 {
      let coefficient = list[3 * t]
      let r = first + 3 * (Int(list[3 * t + 1]) + 1)
      let line = below + 16 * Int(list[3 * t + 2])
      let scale = SIMD8<Double>(repeating: coefficient * r[1])
      low += scale * eight(line)
      high += scale * eight(line + 8)
      let (right, left) = (line[8 + l - 1], line[8 - l + 1])
      ends += SIMD2(right, left) * (coefficient * r[2]) + SIMD2(-left, right) * (coefficient * r[0])
    }
    low *= eight(columns)
    high *= eight(columns + 8)
    put(low, row)
    put(high, row + 8)
    row[8 + l] = ends[0] * columns[8 + l]
    row[8 - l] = ends[1] * columns[8 - l]
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
