// SPDX-License-Identifier: Apache-2.0

/// Mixes inputs into outputs with gains that change along a line or a parabola. The frames are part
/// of one grid cell: the frames between two grid points.
///
/// - Parameters:
///   - input: inputs x `frames`, `inputStride` floats apart; readable for `frames` rounded up to a
///     multiple of 8.
///   - active: the indices of the `activeCount` inputs to mix. All other inputs count as silent.
///   - output: outputs x `frames`, `outputStride` floats apart, overwritten.
///   - starts: the gains at the start of the cell, inputs x `outputs`.
///   - slopes: the change of each gain per frame; nil if all are zero.
///   - curves: the coefficient of each gain's parabola, as in `turnDegree`; nil if all are zero.
///   - offset: the number of frames of the cell that precede the first frame to mix.
///   - scale: the reciprocal of the number of frames in a cell.
@_noLocks
@inline(never)
public func mixRamped(
  _ input: UnsafePointer<Float>, inputStride: Int, active: UnsafePointer<Int>, activeCount: Int,
  _ output: UnsafeMutablePointer<Float>, outputStride: Int, outputs: Int, frames: Int,
  starts: UnsafePointer<Float>, slopes: UnsafePointer<Float>?, curves: UnsafePointer<Float>?,
  offset: Int, scale: Float
) {
  let ramp = Eight(0, 1, 2, 3, 4, 5, 6, 7)
  var n = 0
  while n < frames {
    let time = ramp + Float(offset + n)
    let share = time * scale
    let bow = share - share * share
    for o in 0..<outputs {
      var (sum, change, bend) = (Eight.zero, Eight.zero, Eight.zero)
      for k in 0..<activeCount {
        let i = active[k]
        let x = eight(input + i * inputStride + n)
        let gain = i * outputs + o
        sum = addProduct(x, Eight(repeating: starts[gain]), sum)
        if let slopes { change = addProduct(x, Eight(repeating: slopes[gain]), change) }
        if let curves { bend = addProduct(x, Eight(repeating: curves[gain]), bend) }
      }
      if slopes != nil { sum = addProduct(change, time, sum) }
      if curves != nil { sum = addProduct(bend, bow, sum) }
      spread(sum, output + o * outputStride + n, frames - n)
    }
    n += 8
  }
}

/// Lists the inputs that are not silent. Returns their number.
///
/// - Parameters:
///   - input: inputs x `frames`, `stride` floats apart.
///   - active: receives up to `inputs` indices, in increasing order.
@_noLocks
@inline(never)
public func listActive(
  _ input: UnsafePointer<Float>, stride: Int, inputs: Int, frames: Int,
  into active: UnsafeMutablePointer<Int>
) -> Int {
  var count = 0
  for i in 0..<inputs {
    let plane = input + i * stride
    var seen: UInt32 = 0
    for n in 0..<frames { seen |= plane[n].bitPattern }
    // Ignore the sign bit: -0 counts as zero.
    guard seen & 0x7fff_ffff != 0 else { continue }
    active[count] = i
    count += 1
  }
  return count
}

private typealias Eight = SIMD8<Float>

@_noLocks
@inline(__always)
private func addProduct(_ a: Eight, _ b: Eight, _ c: Eight) -> Eight {
  #if FUSED
    return c.addingProduct(a, b)
  #else
    return a * b + c
  #endif
}

@_noLocks
@inline(__always)
private func eight(_ p: UnsafePointer<Float>) -> Eight {
  Eight(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7])
}

@_noLocks
@inline(__always)
private func spread(_ v: Eight, _ p: UnsafeMutablePointer<Float>, _ count: Int) {
  if count >= 8 {
    for i in 0..<8 { p[i] = v[i] }
  } else {
    for i in 0..<count { p[i] = v[i] }
  }
}
