// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The fast Fourier transform of Cooley and Tukey (1965) in double precision, for measurements.
struct DoubleFFT {
  let size: Int
  private let cosines: [Double]
  private let sines: [Double]

  /// Creates a transform of `size` complex values. `size` is a power of two.
  init(size: Int) {
    self.size = size
    cosines = (0..<max(1, size / 2)).map { cos(2 * .pi * Double($0) / Double(size)) }
    sines = (0..<max(1, size / 2)).map { -sin(2 * .pi * Double($0) / Double(size)) }
  }

  /// Transforms in place, without scaling.
  func transform(_ re: inout [Double], _ im: inout [Double]) {
    re.withUnsafeMutableBufferPointer { re in
      im.withUnsafeMutableBufferPointer { im in
        reorder(re, im)
        var half = 1
        while half < size {
          let step = size / 2 / half
          for start in stride(from: 0, to: size, by: 2 * half) {
            for k in 0..<half {
              let (c, s) = (cosines[k * step], sines[k * step])
              let (a, b) = (start + k, start + k + half)
              let (x, y) = (re[b] * c - im[b] * s, re[b] * s + im[b] * c)
              (re[b], im[b]) = (re[a] - x, im[a] - y)
              (re[a], im[a]) = (re[a] + x, im[a] + y)
            }
          }
          half *= 2
        }
      }
    }
  }

  private func reorder(
    _ re: UnsafeMutableBufferPointer<Double>, _ im: UnsafeMutableBufferPointer<Double>
  ) {
    var j = 0
    for i in 0..<(size - 1) {
      if i < j {
        re.swapAt(i, j)
        im.swapAt(i, j)
      }
      var bit = size / 2
      while j & bit != 0 {
        j &= ~bit
        bit /= 2
      }
      j |= bit
    }
  }
}

/// Computes cross-correlations at short lags.
struct Correlator {
  /// Half the number of lags. The lags range from `-reach` to `reach - 1` frames.
  let reach: Int
  private let block: Int
  private let fft: DoubleFFT

  /// Creates a correlator. `reach` is a power of two.
  init(reach: Int) {
    self.reach = reach
    block = 2 * reach
    fft = DoubleFFT(size: 4 * reach)
  }

  /// The spectra of a signal's blocks. `correlation` uses `first` of its first argument and
  /// `second` of its second argument.
  struct Blocks {
    var first: [(re: [Double], im: [Double])] = []
    var second: [(re: [Double], im: [Double])] = []
  }

  func blocks(_ x: [Double]) -> Blocks {
    var blocks = Blocks()
    for start in stride(from: 0, to: x.count, by: block) {
      var re = [Double](repeating: 0, count: fft.size)
      var im = re
      // Transform two real signals at once: the block alone, and the block with `reach` frames on
      // either side.
      for i in 0..<min(block, x.count - start) { re[i] = x[start + i] }
      for i in 0..<fft.size where x.indices.contains(start - reach + i) {
        im[i] = x[start - reach + i]
      }
      fft.transform(&re, &im)
      var (a, b) = ((re: re, im: re), (re: re, im: re))
      for k in 0..<fft.size {
        let m = (fft.size - k) & (fft.size - 1)
        a.re[k] = 0.5 * (re[k] + re[m])
        a.im[k] = 0.5 * (im[k] - im[m])
        b.re[k] = 0.5 * (im[k] + im[m])
        b.im[k] = 0.5 * (re[m] - re[k])
      }
      blocks.first.append(a)
      blocks.second.append(b)
    }
    return blocks
  }

  /// Returns, for each lag from `-reach` to `reach - 1`, the sum of `x[t] * y[t + lag]` over all
  /// `t`.
  func correlation(_ x: Blocks, _ y: Blocks) -> [Double] {
    var re = [Double](repeating: 0, count: fft.size)
    var im = re
    for (a, b) in zip(x.first, y.second) {
      for k in 0..<fft.size {
        re[k] += a.re[k] * b.re[k] + a.im[k] * b.im[k]
        // Store the conjugate, so that the forward transform below acts as the inverse.
        im[k] -= a.re[k] * b.im[k] - a.im[k] * b.re[k]
      }
    }
    fft.transform(&re, &im)
    return re.prefix(2 * reach).map { $0 / Double(fft.size) }
  }
}
