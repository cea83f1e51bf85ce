// SPDX-License-Identifier: Apache-2.0

/// Rotates the 2 l + 1 signals of degree l of a soundfield in a grid cell of 16 frames.
///
/// An output is a weighted sum of the inputs. The weights at frame n of the cell are:
///
/// ```
/// gains + n * slopes + (n / 16) * (1 - n / 16) * curves
/// ```
///
/// - Parameters:
///   - input: `size` aligned signals, `stride` floats apart; readable up to the next multiple of 16
///     frames.
///   - output: `size` aligned signals, `stride` floats apart; writable to the same length. They
///     must not overlap `input`.
///   - stride: floats from one signal to the next, a multiple of 16.
///   - size: number of signals of the degree, 2 l + 1, at least 3.
///   - frames: number of frames from the start of the cell, at most 16.
///   - gains: the gains at the first frame of the cell, outputs x inputs.
///   - slopes: the change of the gains per frame, outputs x inputs; nil if the gains are constant.
///   - curves: the coefficient of each gain's parabola, outputs x inputs; nil if there are none.
///     Ignored if `slopes` is nil.
@_noLocks
@inline(never)
public func turnDegree(
  _ input: UnsafePointer<Float>, _ output: UnsafeMutablePointer<Float>, stride: Int, size: Int,
  frames: Int, gains: UnsafePointer<Float>, slopes: UnsafePointer<Float>?,
  curves: UnsafePointer<Float>?
) {
  let degree = Degree(
    input: input, output: output, stride: stride, size: size, frames: frames, gains: gains)
  guard let slopes else { return degree.turn(gains, gains, moves: false, bends: false) }
  guard let curves else { return degree.turn(slopes, slopes, moves: true, bends: false) }
  degree.turn(slopes, curves, moves: true, bends: true)
}

private struct Degree {
  let input: UnsafePointer<Float>
  let output: UnsafeMutablePointer<Float>
  let stride: Int
  let size: Int
  let frames: Int
  let gains: UnsafePointer<Float>

  @_noLocks
  @inline(__always)
  init(
    input: UnsafePointer<Float>, output: UnsafeMutablePointer<Float>, stride: Int, size: Int,
    frames: Int, gains: UnsafePointer<Float>
  ) {
    (self.input, self.output, self.gains) = (input, output, gains)
    (self.stride, self.size, self.frames) = (stride, size, frames)
  }

  /// Rotates all rows. Each call passes constants for `moves` and `bends`, so the compiler makes a
  /// separate loop for each case.
  @_noLocks
  @inline(__always)
  func turn(
    _ slopes: UnsafePointer<Float>, _ curves: UnsafePointer<Float>, moves: Bool, bends: Bool
  ) {
    var row = 0
    while row < size {
      let take = rowsAtOnce(size - row)
      if size - row < 3 { row = size - 3 }
      var n = 0
      while n < frames {
        if take == 4 {
          mix(row, n, slopes, curves, isFour: true, moves, bends)
        } else {
          mix(row, n, slopes, curves, isFour: false, moves, bends)
        }
        n += width
      }
      row += take
    }
  }

  /// Computes three or four rows for one vector of frames.
  @_noLocks
  @inline(__always)
  private func mix(
    _ row: Int, _ n: Int, _ slopes: UnsafePointer<Float>, _ curves: UnsafePointer<Float>,
    isFour: Bool, _ moves: Bool, _ bends: Bool
  ) {
    let at = row * size
    var (a, b, c) = (RowSums(), RowSums(), RowSums())
    var d = RowSums()
    for j in 0..<size {
      let x = load(input + j * stride + n)
      a.add(x, gains, slopes, curves, at + j, moves, bends)
      b.add(x, gains, slopes, curves, at + size + j, moves, bends)
      c.add(x, gains, slopes, curves, at + 2 * size + j, moves, bends)
      if isFour { d.add(x, gains, slopes, curves, at + 3 * size + j, moves, bends) }
    }
    let time = ramp + Wide(repeating: Float(n))
    let share = time * Wide(repeating: 1.0 / 16)
    let bend = share - share * share
    let to = output + row * stride + n
    store(a.total(time, bend, moves, bends), to)
    store(b.total(time, bend, moves, bends), to + stride)
    store(c.total(time, bend, moves, bends), to + 2 * stride)
    if isFour { store(d.total(time, bend, moves, bends), to + 3 * stride) }
  }
}

/// The sums of the inputs, weighted with the gains, slopes and curves of one output row.
private struct RowSums {
  var still = Wide(repeating: 0)
  var slope = Wide(repeating: 0)
  var curve = Wide(repeating: 0)

  @_noLocks
  @inline(__always)
  init() {}

  @_noLocks
  @inline(__always)
  mutating func add(
    _ x: Wide, _ gains: UnsafePointer<Float>, _ slopes: UnsafePointer<Float>,
    _ curves: UnsafePointer<Float>, _ at: Int, _ moves: Bool, _ bends: Bool
  ) {
    still = fused(x, Wide(repeating: gains[at]), still)
    if moves { slope = fused(x, Wide(repeating: slopes[at]), slope) }
    if bends { curve = fused(x, Wide(repeating: curves[at]), curve) }
  }

  @_noLocks
  @inline(__always)
  func total(_ time: Wide, _ bend: Wide, _ moves: Bool, _ bends: Bool) -> Wide {
    let moved = moves ? fused(slope, time, still) : still
    return bends ? fused(curve, bend, moved) : moved
  }
}

/// Returns the number of rows to compute together if `left` rows remain: 3 or 4, even if fewer
/// remain.
@_noLocks
@inline(__always)
private func rowsAtOnce(_ left: Int) -> Int {
  if left < 4 { return 3 }
  return left == 5 || left == 6 || left == 9 ? 3 : 4
}

@inline(__always)
private var ramp: Wide {
  @_noLocks get {
    var ramp = Wide(repeating: 0)
    for i in 0..<width { ramp[i] = Float(i) }
    return ramp
  }
}
