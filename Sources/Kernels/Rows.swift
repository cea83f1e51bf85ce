// SPDX-License-Identifier: Apache-2.0

/// Interleaves four signals into rows of four lanes.
///
/// - Parameters:
///   - a: `frames` samples for lane 0; `b`, `c` and `d` likewise for lanes 1 to 3.
///   - rows: receives `frames` rows.
/// - Returns: false if all samples are zero.
@_noLocks
@inline(never)
public func interleaveQuad(
  _ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, _ c: UnsafePointer<Float>,
  _ d: UnsafePointer<Float>, frames: Int, rows: UnsafeMutablePointer<Float>
) -> Bool {
  var seen = SIMD4<UInt32>(repeating: 0)
  var n = 0
  while n + 4 <= frames {
    let (w, x, y, z) = (four(a + n), four(b + n), four(c + n), four(d + n))
    let to = rows + 4 * n
    seen |= bits(w) | bits(x) | bits(y) | bits(z)
    storeRow(Row(w[0], x[0], y[0], z[0]), to)
    storeRow(Row(w[1], x[1], y[1], z[1]), to + 4)
    storeRow(Row(w[2], x[2], y[2], z[2]), to + 8)
    storeRow(Row(w[3], x[3], y[3], z[3]), to + 12)
    n += 4
  }
  while n < frames {
    let row = Row(a[n], b[n], c[n], d[n])
    seen |= bits(row)
    storeRow(row, rows + 4 * n)
    n += 1
  }
  // Ignore the sign bit: -0 counts as zero.
  return (seen[0] | seen[1] | seen[2] | seen[3]) & 0x7fff_ffff != 0
}

@_noLocks
@inline(__always)
private func four(_ p: UnsafePointer<Float>) -> Row { Row(p[0], p[1], p[2], p[3]) }

@_noLocks
@inline(__always)
private func bits(_ v: Row) -> SIMD4<UInt32> { unsafeBitCast(v, to: SIMD4<UInt32>.self) }

/// Adds two blocks of rows and converts each row to one sample per ear.
///
/// - Parameters:
///   - re: `frames` rows.
///   - overlap: `frames` rows, added to `re`.
///   - frames: number of rows.
///   - isSymmetric: if true, left is x + y and right is x - y; otherwise, left is x and right is y.
///     x is the sum of lanes 0 and 1, and y is the sum of lanes 2 and 3.
///   - left: `frames` samples, overwritten.
///   - right: `frames` samples, overwritten.
@_noLocks
@inline(never)
public func splitEars(
  _ re: UnsafePointer<Float>, _ overlap: UnsafePointer<Float>, frames: Int, isSymmetric: Bool,
  left: UnsafeMutablePointer<Float>, right: UnsafeMutablePointer<Float>
) {
  var n = 0
  while n + 4 <= frames {
    let (re, overlap) = (re + 4 * n, overlap + 4 * n)
    let a = loadRow(re) + loadRow(overlap)
    let b = loadRow(re + 4) + loadRow(overlap + 4)
    let c = loadRow(re + 8) + loadRow(overlap + 8)
    let d = loadRow(re + 12) + loadRow(overlap + 12)
    let first = Row(a[0], b[0], c[0], d[0]) + Row(a[1], b[1], c[1], d[1])
    let second = Row(a[2], b[2], c[2], d[2]) + Row(a[3], b[3], c[3], d[3])
    spread(isSymmetric ? first + second : first, left + n)
    spread(isSymmetric ? first - second : second, right + n)
    n += 4
  }
  while n < frames {
    let row = loadRow(re + 4 * n) + loadRow(overlap + 4 * n)
    let (first, second) = (row[0] + row[1], row[2] + row[3])
    left[n] = isSymmetric ? first + second : first
    right[n] = isSymmetric ? first - second : second
    n += 1
  }
}

@_noLocks
@inline(__always)
private func spread(_ v: Row, _ p: UnsafeMutablePointer<Float>) {
  (p[0], p[1], p[2], p[3]) = (v[0], v[1], v[2], v[3])
}
