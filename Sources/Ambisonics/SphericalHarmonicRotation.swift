// SPDX-License-Identifier: Apache-2.0

private import CRealtime
public import Geometry

/// Rotation matrices of real spherical harmonics by recurrence over the degree.
///
/// Ivanic and Ruedenberg, J. Phys. Chem. 100 (1996) 6342, equations 6.2 to 8.1 with tables 1 and 2, and the
/// corrections of J. Phys. Chem. A 102 (1998) 9099. Degree 1 is the 3x3 matrix itself, its axes in
/// the order y, z, x. The matrices are the same for SN3D and N3D, which differ by degree only.
///
/// ## Threading
/// `compute` uses scratch memory: one caller at a time. It does not allocate, lock or wait.
public struct SphericalHarmonicRotation: ~Copyable {
  public let order: Int
  /// Coefficients of all blocks: the sum over degrees 1 to order of (2 l + 1)^2.
  public let coefficientCount: Int

  /// u, v and w of every element of the blocks from degree 2 on.
  private let factors: UnsafeMutablePointer<SIMD3<Double>>
  private let blocks: UnsafeMutablePointer<Double>

  public init(order: Int) {
    precondition((1...SphericalHarmonics.maximumOrder).contains(order))
    self.order = order
    coefficientCount = Self.blockOffset(degree: order + 1)
    factors = .allocate(capacity: coefficientCount)
    blocks = .allocate(capacity: coefficientCount)
    blocks.initialize(repeating: 0, count: coefficientCount)
    factors.initialize(repeating: .zero, count: coefficientCount)
    for l in stride(from: 2, through: order, by: 1) {
      for m in -l...l {
        for n in -l...l {
          let at = Self.blockOffset(degree: l) + (m + l) * (2 * l + 1) + n + l
          factors[at] = Self.factors(l, m, n)
        }
      }
    }
  }

  deinit {
    factors.deallocate()
    blocks.deallocate()
  }

  /// Where the block of a degree begins; its rows are outputs.
  @_noLocks
  public static func blockOffset(degree: Int) -> Int {
    var offset = 0
    for l in stride(from: 1, to: degree, by: 1) { offset += (2 * l + 1) * (2 * l + 1) }
    return offset
  }

  private static func factors(_ l: Int, _ m: Int, _ n: Int) -> SIMD3<Double> {
    let a = m < 0 ? -m : m
    let delta = m == 0 ? 1.0 : 0.0
    let bottom = Double(n == l || n == -l ? 2 * l * (2 * l - 1) : (l + n) * (l - n))
    let u = realtime_sqrt(Double((l + m) * (l - m)) / bottom)
    let v = 0.5 * realtime_sqrt((1 + delta) * Double((l + a - 1) * (l + a)) / bottom)
    let w = -0.5 * realtime_sqrt(Double((l - a - 1) * (l - a)) / bottom)
    return SIMD3(u, v * (1 - 2 * delta), m == 0 ? 0 : w)
  }

  /// The blocks of a rotation of the soundfield: a source at direction d comes to `rotation` d.
  ///
  /// - Parameters:
  ///   - rotation: the turn of the field; for a head pose, of its inverse.
  ///   - coefficients: `coefficientCount` values, degree after degree, rows first.
  @_noLocks
  public func compute(
    _ rotation: RotationMatrix, into coefficients: UnsafeMutablePointer<Float>
  ) {
    fillFirstDegree(rotation)
    var previous = 0
    var current = 9
    for l in stride(from: 2, through: order, by: 1) {
      fillDegree(l, from: previous, at: current)
      previous = current
      current += (2 * l + 1) * (2 * l + 1)
    }
    for i in 0..<coefficientCount { coefficients[i] = Float(blocks[i]) }
  }

  @_noLocks
  private func fillFirstDegree(_ r: RotationMatrix) {
    blocks[0] = r.y.y
    blocks[1] = r.y.z
    blocks[2] = r.y.x
    blocks[3] = r.z.y
    blocks[4] = r.z.z
    blocks[5] = r.z.x
    blocks[6] = r.x.y
    blocks[7] = r.x.z
    blocks[8] = r.x.x
  }

  @_noLocks
  private func fillDegree(_ l: Int, from previous: Int, at current: Int) {
    let below = blocks + previous
    let root2 = realtime_sqrt(2)
    var at = current
    for m in -l...l {
      for n in -l...l {
        let f = factors[at]
        var sum = 0.0
        if f.x != 0 { sum += f.x * term(below, l, 0, m, n) }
        if f.y != 0 {
          var v = 0.0
          if m == 0 {
            v = term(below, l, 1, 1, n) + term(below, l, -1, -1, n)
          } else if m > 0 {
            v = term(below, l, 1, m - 1, n) * (m == 1 ? root2 : 1)
            if m > 1 { v -= term(below, l, -1, 1 - m, n) }
          } else {
            v = term(below, l, -1, -m - 1, n) * (m == -1 ? root2 : 1)
            if m < -1 { v += term(below, l, 1, m + 1, n) }
          }
          sum += f.y * v
        }
        if f.z != 0 {
          let w =
            m > 0
            ? term(below, l, 1, m + 1, n) + term(below, l, -1, -m - 1, n)
            : term(below, l, 1, m - 1, n) - term(below, l, -1, 1 - m, n)
          sum += f.z * w
        }
        blocks[at] = sum
        at += 1
      }
    }
  }

  /// P of table 2: row `i` of degree 1 with row `row` of the degree below.
  @_noLocks
  @inline(__always)
  private func term(
    _ below: UnsafeMutablePointer<Double>, _ l: Int, _ i: Int, _ row: Int, _ n: Int
  ) -> Double {
    let first = blocks + 3 * (i + 1)
    let line = below + (row + l - 1) * (2 * l - 1)
    if n == l { return first[2] * line[2 * l - 2] - first[0] * line[0] }
    if n == -l { return first[2] * line[0] + first[0] * line[2 * l - 2] }
    return first[1] * line[n + l - 1]
  }
}
