// SPDX-License-Identifier: Apache-2.0

private import CRealtime
private import SignalProcessing

/// The gains of a `DirectionalBank`, interpolated bilinearly between the directions of its grid.
///
/// ## Threading
/// Several threads may read. Reading does not allocate, lock or wait.
struct DirectionTable: ~Copyable {
  private let gains: AlignedFloats
  private let rank: Int

  init(_ bank: DirectionalBank) {
    rank = DirectionalBank.rank
    gains = AlignedFloats(count: bank.gains.count)
    gains.pointer.update(from: bank.gains, count: bank.gains.count)
  }

  /// Looks up the gains of a direction.
  ///
  /// - Parameters:
  ///   - v: the unit vector to the source, relative to the head.
  ///   - left: receives the left ear's gains, one for each filter.
  ///   - right: receives the right ear's gains, one for each filter.
  @_noLocks
  func look(
    up v: SIMD3<Double>, left: UnsafeMutablePointer<Float>, right: UnsafeMutablePointer<Float>
  ) {
    let perRadian = 180 / Double.pi / DirectionalBank.step
    let (rows, columns) = (DirectionalBank.rows, DirectionalBank.columns)
    let turn = realtime_atan2(v.y, v.x) * perRadian
    let height =
      realtime_atan2(v.z, realtime_sqrt(v.x * v.x + v.y * v.y)) * perRadian
      + Double(rows - 1) / 2
    let along = turn < 0 ? turn + Double(columns) : turn
    let (row, column) = (min(max(0, Int(height)), rows - 2), min(Int(along), columns - 1))
    let (up, right1) = (Float(height - Double(row)), Float(along - Double(column)))
    let next = column + 1 == columns ? 0 : column + 1
    let a = place(row, column)
    let b = place(row, next)
    let c = place(row + 1, column)
    let d = place(row + 1, next)
    let (wa, wb) = ((1 - up) * (1 - right1), (1 - up) * right1)
    let (wc, wd) = (up * (1 - right1), up * right1)
    for i in 0..<rank {
      left[i] = a[i] * wa + b[i] * wb + c[i] * wc + d[i] * wd
      let j = rank + i
      right[i] = a[j] * wa + b[j] * wb + c[j] * wc + d[j] * wd
    }
  }

  @_noLocks
  private func place(_ row: Int, _ column: Int) -> UnsafeMutablePointer<Float> {
    gains.pointer + (row * DirectionalBank.columns + column) * 2 * rank
  }
}
