// SPDX-License-Identifier: Apache-2.0

/// Returns every filter convolved with `fir`.
///
/// - Parameters:
///   - filters: filters x taps.
///   - fir: the impulse response to convolve with; if empty, `filters` is returned.
/// - Returns: filters x (taps of the longest filter + `fir.count` - 1). If `fir` has one tap, every
///   filter keeps its length.
public func folded(_ filters: [[Float]], with fir: [Float]) -> [[Float]] {
  let taps = (filters.map(\.count).max() ?? 0) + fir.count - 1
  guard taps > 0, !fir.isEmpty else { return filters }
  if fir.count == 1 { return filters.map { $0.map { $0 * fir[0] } } }
  var size = 4
  while size < taps { size *= 2 }
  let fft = RealFFT(size: size)
  let bins = fft.bins
  let time = AlignedFloats(count: size)
  let re = AlignedFloats(count: bins)
  let im = AlignedFloats(count: bins)
  let firRe = AlignedFloats(count: bins)
  let firIm = AlignedFloats(count: bins)
  for n in fir.indices { time.pointer[n] = fir[n] }
  fft.forward(time.pointer, real: firRe.pointer, imaginary: firIm.pointer)
  return filters.map { filter in
    time.clear()
    for n in filter.indices { time.pointer[n] = filter[n] }
    fft.forward(time.pointer, real: re.pointer, imaginary: im.pointer)
    for k in 0..<bins {
      let (x, y) = (re.pointer[k], im.pointer[k])
      re.pointer[k] = x * firRe.pointer[k] - y * firIm.pointer[k]
      im.pointer[k] = x * firIm.pointer[k] + y * firRe.pointer[k]
    }
    fft.inverse(real: re.pointer, imaginary: im.pointer, time: time.pointer)
    return (0..<taps).map { time.pointer[$0] }
  }
}
