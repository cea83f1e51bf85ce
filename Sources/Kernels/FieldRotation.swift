// SPDX-License-Identifier: Apache-2.0

/// One degree of a soundfield turned: every output is a sum of all inputs of the degree.
///
/// - Parameters:
///   - input: size signals, `stride` floats apart; readable to the next multiple of 16 frames.
///   - output: size signals, `stride` floats apart; writable likewise. Not the same memory.
///   - stride: floats, a multiple of 16.
///   - size: signals of the degree, 2 l + 1, from 3.
///   - frames: how many, from the first.
///   - gains: size x size, rows are outputs.
@_noLocks
@inline(never)
public func turnDegree(
  _ input: UnsafePointer<Float>, _ output: UnsafeMutablePointer<Float>, stride: Int, size: Int,
  frames: Int, gains: UnsafePointer<Float>
) {
  var row = 0
  while row < size {
    let take = rowsAtOnce(size - row)
    if size - row < 3 { row = size - 3 }
    let (to, g) = (output + row * stride, gains + row * size)
    var n = 0
    while n < frames {
      var (a, b, c, d) = (zeros, zeros, zeros, zeros)
      for j in 0..<size {
        let x = load(input + j * stride + n)
        a = fused(x, Wide(repeating: g[j]), a)
        b = fused(x, Wide(repeating: g[size + j]), b)
        c = fused(x, Wide(repeating: g[2 * size + j]), c)
        if take == 4 { d = fused(x, Wide(repeating: g[3 * size + j]), d) }
      }
      store(a, to + n)
      store(b, to + stride + n)
      store(c, to + 2 * stride + n)
      if take == 4 { store(d, to + 3 * stride + n) }
      n += width
    }
    row += take
  }
}

/// The same with gains that change linearly from frame to frame.
///
/// - Parameters:
///   - gains: of the first frame.
///   - slopes: by how much a gain changes in a frame; size x size.
@_noLocks
@inline(never)
public func turnDegree(
  _ input: UnsafePointer<Float>, _ output: UnsafeMutablePointer<Float>, stride: Int, size: Int,
  frames: Int, gains: UnsafePointer<Float>, slopes: UnsafePointer<Float>
) {
  var row = 0
  while row < size {
    let take = rowsAtOnce(size - row)
    if size - row < 3 { row = size - 3 }
    let (to, g, s) = (output + row * stride, gains + row * size, slopes + row * size)
    var n = 0
    while n < frames {
      var (a, b, c, d) = (zeros, zeros, zeros, zeros)
      var (ar, br, cr, dr) = (zeros, zeros, zeros, zeros)
      for j in 0..<size {
        let x = load(input + j * stride + n)
        a = fused(x, Wide(repeating: g[j]), a)
        ar = fused(x, Wide(repeating: s[j]), ar)
        b = fused(x, Wide(repeating: g[size + j]), b)
        br = fused(x, Wide(repeating: s[size + j]), br)
        c = fused(x, Wide(repeating: g[2 * size + j]), c)
        cr = fused(x, Wide(repeating: s[2 * size + j]), cr)
        if take == 4 {
          d = fused(x, Wide(repeating: g[3 * size + j]), d)
          dr = fused(x, Wide(repeating: s[3 * size + j]), dr)
        }
      }
      let ramp = ramp + Wide(repeating: Float(n))
      store(fused(ar, ramp, a), to + n)
      store(fused(br, ramp, b), to + stride + n)
      store(fused(cr, ramp, c), to + 2 * stride + n)
      if take == 4 { store(fused(dr, ramp, d), to + 3 * stride + n) }
      n += width
    }
    row += take
  }
}

/// Rows go in fours and threes; of five, one is done twice.
@_noLocks
@inline(__always)
private func rowsAtOnce(_ left: Int) -> Int {
  if left < 4 { return 3 }
  return left == 5 || left == 6 || left == 9 ? 3 : 4
}

@inline(__always)
private var zeros: Wide {
  @_noLocks get { Wide(repeating: 0) }
}

@inline(__always)
private var ramp: Wide {
  @_noLocks get {
    var ramp = Wide(repeating: 0)
    for i in 0..<width { ramp[i] = Float(i) }
    return ramp
  }
}
