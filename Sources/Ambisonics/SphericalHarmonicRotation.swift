// SPDX-License-Identifier: Apache-2.0

public import Geometry
public import SignalProcessing

/// Computes rotation matrices of real spherical harmonics by recurrence over the degree.
///
/// The method is that of Ivanic and Ruedenberg [J. Phys. Chem. 100 (1996) 6342, equations 6.2 to
/// 8.1 with tables 1 and 2; corrections in J. Phys. Chem. A 102 (1998) 9099]. SN3D and N3D have the
/// same matrices because their ratio depends only on the degree.
///
/// ## Threading
/// One caller at a time. `compute` does not allocate, lock or wait.
public struct SphericalHarmonicRotation: ~Copyable {
  public let order: Int
  /// The total number of matrix elements: the sum of (2 l + 1)^2 over the degrees l from 1 to
  /// `order`.
  public let coefficientCount: Int

  private let set: InstructionSet
  /// Five coefficients of the recurrence for each row, as `raiseDegree` expects. If a row has fewer
  /// than five terms, zeros follow its coefficients.
  private let coefficients: UnsafeMutablePointer<Double>
  /// Two offsets for each term. The first is from the start of the matrix of degree 1 to the term's
  /// row. The second is from row 0 of the matrix of the degree below to the term's row.
  private let places: UnsafeMutablePointer<Int>
  /// The column factors, 16 values for each degree; used from degree 2 on.
  private let columns: AlignedDoubles
  /// The matrices of degree 1, of the degree below, and of the degree to compute, one after the
  /// other. The last two have rows of 16 values.
  private let rows: AlignedDoubles

  private static let rowLength = 16

  public init(order: Int, set: InstructionSet = .current) {
    precondition((1...SphericalHarmonics.maximumOrder).contains(order))
    self.order = order
    self.set = set
    coefficientCount = Self.blockOffset(degree: order + 1)
    let rowCount = (order + 1) * (order + 1)
    coefficients = .allocate(capacity: 5 * rowCount)
    coefficients.initialize(repeating: 0, count: 5 * rowCount)
    places = .allocate(capacity: 10 * rowCount)
    places.initialize(repeating: 0, count: 10 * rowCount)
    columns = AlignedDoubles(count: Self.rowLength * (order + 1))
    rows = AlignedDoubles(count: Self.rowLength * (4 * order + 3))
    for l in stride(from: 2, through: order, by: 1) {
      for n in -l...l {
        let edge = n == l || n == -l
        let bottom = Double(edge ? 2 * l * (2 * l - 1) : (l + n) * (l - n))
        columns.pointer[Self.rowLength * l + 8 + n] = 1 / bottom.squareRoot()
      }
      for m in -l...l {
        let row = 5 * (l * l + l + m)
        for (t, term) in Self.terms(l, m).filter({ $0.coefficient != 0 }).enumerated() {
          coefficients[row + t] = term.coefficient
          places[2 * (row + t)] = 3 * (term.first + 1)
          places[2 * (row + t) + 1] = Self.rowLength * term.below
        }
      }
    }
  }

  deinit {
    coefficients.deallocate()
    places.deallocate()
  }

  /// Returns the index at which the matrix of `degree` starts in the values that `compute` writes.
  /// Each row of the matrix computes one output channel.
  @_noLocks
  public static func blockOffset(degree: Int) -> Int {
    var offset = 0
    for l in stride(from: 1, to: degree, by: 1) { offset += (2 * l + 1) * (2 * l + 1) }
    return offset
  }

  /// A term of the recurrence: a coefficient, a row of the matrix of degree 1, and a row of the
  /// matrix of the degree below.
  private typealias Term = (coefficient: Double, first: Int, below: Int)

  /// Returns the terms of u U + v V + w W for row m of degree l, without the column factor [tables
  /// 1 and 2].
  private static func terms(_ l: Int, _ m: Int) -> [Term] {
    let a = abs(m)
    let u = Double((l + m) * (l - m)).squareRoot()
    let w = m == 0 ? 0 : -0.5 * Double(max(0, (l - a - 1) * (l - a))).squareRoot()
    let v = 0.5 * Double((l + a - 1) * (l + a)).squareRoot()
    let root2 = 2.0.squareRoot()
    if m == 0 { return [(u, 0, 0), (-v * root2, 1, 1), (-v * root2, -1, -1)] }
    if m > 0 {
      return [
        (u, 0, m), (v * (m == 1 ? root2 : 1), 1, m - 1), (m == 1 ? 0 : -v, -1, 1 - m),
        (w, 1, m + 1), (w, -1, -m - 1),
      ]
    }
    return [
      (u, 0, m), (v * (m == -1 ? root2 : 1), -1, -m - 1), (m == -1 ? 0 : v, 1, m + 1),
      (w, 1, m - 1), (-w, -1, 1 - m),
    ]
  }

  /// Computes the matrices that move a sound from the direction d to the direction `rotation` * d.
  ///
  /// - Parameters:
  ///   - rotation: the rotation of the soundfield. To compensate for the rotation of the head, pass
  ///     its inverse.
  ///   - matrices: receives `coefficientCount` values: one matrix for each degree from 1 on, row by
  ///     row.
  @_noLocks
  public func compute(
    _ rotation: RotationMatrix, into matrices: UnsafeMutablePointer<Float>
  ) {
    let first = rows.pointer
    let half = Self.rowLength * (2 * order + 1)
    // Pointers to row 0 of the matrix of the degree below and of the matrix to compute.
    var below = first + Self.rowLength * (order + 1)
    var above = below + half
    fillFirstDegree(rotation, first, below)
    var to = matrices
    for i in 0..<9 { to[i] = Float(first[i]) }
    to += 9
    for l in stride(from: 2, through: order, by: 1) {
      set.raiseDegree(
        first: first, below: below, above: above, degree: l,
        coefficients: coefficients + 5 * l * l, places: places + 10 * l * l,
        columns: columns.pointer + Self.rowLength * l)
      for m in -l...l {
        let row = above + Self.rowLength * m + 8
        for n in -l...l {
          to.pointee = Float(row[n])
          to += 1
        }
      }
      swap(&below, &above)
    }
  }

  @_noLocks
  private func fillFirstDegree(
    _ r: RotationMatrix, _ first: UnsafeMutablePointer<Double>, _ rows: UnsafeMutablePointer<Double>
  ) {
    (first[0], first[1], first[2]) = (r.y.y, r.y.z, r.y.x)
    (first[3], first[4], first[5]) = (r.z.y, r.z.z, r.z.x)
    (first[6], first[7], first[8]) = (r.x.y, r.x.z, r.x.x)
    for m in -1...1 {
      let row = rows + Self.rowLength * m
      for n in 0..<Self.rowLength { row[n] = 0 }
      for n in -1...1 { row[8 + n] = first[3 * (m + 1) + n + 1] }
    }
  }
}
