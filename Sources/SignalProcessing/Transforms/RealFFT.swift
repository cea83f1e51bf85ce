// SPDX-License-Identifier: Apache-2.0

internal import CRealtime

/// The discrete Fourier transform of `batch` interleaved real signals.
///
/// Sample n of signal b is `time[n * batch + b]`. Bin k, 0 to size / 2, is `real[k * batch + b]`
/// and `imaginary[k * batch + b]`.
///
/// A signal is converted to a complex sequence of half the length: the even samples become real
/// parts, and the odd samples become imaginary parts. The signal's spectrum is computed from the
/// transform of this sequence (Cooley, Lewis, Welch 1970).
///
/// ## Threading
/// Use an instance from one thread at a time. After `init`, no call allocates, locks or waits.
public struct RealFFT: ~Copyable, @unchecked Sendable {
  /// The number of samples of one signal: a power of two, at least 4.
  public let size: Int
  /// The number of signals.
  public let batch: Int
  /// The number of bins of a spectrum.
  public var bins: Int { size / 2 + 1 }

  private let half: Int
  private let complex: ComplexFFT
  private let foldTwiddles: AlignedFloats

  public init(size: Int, batch: Int = 1) {
    precondition(size >= 4 && size & (size - 1) == 0, "the size must be a power of two >= 4")
    precondition(batch >= 1)
    self.size = size
    self.batch = batch
    half = size / 2
    complex = ComplexFFT(size: size / 2, batch: batch)
    foldTwiddles = AlignedFloats(count: 2 * (half / 2 + 1))
    for k in 0...(half / 2) {
      let angle = -2 * Double.pi * Double(k) / Double(size)
      foldTwiddles.pointer[2 * k] = Float(realtime_cos(angle))
      foldTwiddles.pointer[2 * k + 1] = Float(realtime_sin(angle))
    }
  }

  /// Computes the spectra of `batch` signals, unscaled. If `batch` is a multiple of 4, the
  /// addresses must be 16-byte aligned.
  ///
  /// - Parameters:
  ///   - time: size x batch samples.
  ///   - real: (size / 2 + 1) x batch values.
  ///   - imaginary: (size / 2 + 1) x batch values.
  @_noLocks
  public func forward(
    _ time: UnsafePointer<Float>, real: UnsafeMutablePointer<Float>,
    imaginary: UnsafeMutablePointer<Float>
  ) {
    let result = complex.transform(
      StageSource(re: time, im: time + batch, rowStride: 2 * batch))
    unfold(result, real: real, imaginary: imaginary)
  }

  /// Computes the signals from `batch` spectra, scaled so that `inverse` reverses `forward`.
  ///
  /// - Parameters:
  ///   - real: (size / 2 + 1) x batch values.
  ///   - imaginary: (size / 2 + 1) x batch values; the values of bins 0 and size / 2 count as zero.
  ///   - time: size x batch samples.
  @_noLocks
  public func inverse(
    real: UnsafePointer<Float>, imaginary: UnsafePointer<Float>, time: UnsafeMutablePointer<Float>
  ) {
    let folded = complex.source()
    fold(real: real, imaginary: imaginary, into: folded)
    // Swapping real and imaginary parts turns the forward transform into the inverse.
    let result = complex.transform(
      StageSource(re: folded.im, im: folded.re, rowStride: batch))
    for row in 0..<half {
      let (from, to) = (row * batch, 2 * row * batch)
      for lane in 0..<batch {
        time[to + lane] = result.im[from + lane]
        time[to + batch + lane] = result.re[from + lane]
      }
    }
  }

  /// Converts the spectra of the half-length sequences to the bins of the signals.
  @_noLocks
  private func unfold(
    _ z: SplitBuffer, real: UnsafeMutablePointer<Float>, imaginary: UnsafeMutablePointer<Float>
  ) {
    for lane in 0..<batch {
      let (sum, difference) = (z.re[lane] + z.im[lane], z.re[lane] - z.im[lane])
      real[lane] = sum
      imaginary[lane] = 0
      real[half * batch + lane] = difference
      imaginary[half * batch + lane] = 0
    }
    for k in stride(from: 1, through: half / 2, by: 1) {
      let (low, high) = (k * batch, (half - k) * batch)
      let (c, s) = (foldTwiddles.pointer[2 * k], foldTwiddles.pointer[2 * k + 1])
      if batch & 3 == 0 {
        let (zr, zi) = (z.re.vectors4, z.im.vectors4)
        let (xr, xi) = (real.vectors4, imaginary.vectors4)
        for lane in 0..<(batch / 4) {
          let (l, h) = (low / 4 + lane, high / 4 + lane)
          let evenR = (zr[l] + zr[h]) * 0.5
          let evenI = (zi[l] - zi[h]) * 0.5
          let oddR = (zi[l] + zi[h]) * 0.5
          let oddI = (zr[h] - zr[l]) * 0.5
          let turnedR = oddR * c - oddI * s
          let turnedI = oddR * s + oddI * c
          xr[l] = evenR + turnedR
          xi[l] = evenI + turnedI
          xr[h] = evenR - turnedR
          xi[h] = turnedI - evenI
        }
      } else {
        for lane in 0..<batch {
          let (l, h) = (low + lane, high + lane)
          let evenR = (z.re[l] + z.re[h]) * 0.5
          let evenI = (z.im[l] - z.im[h]) * 0.5
          let oddR = (z.im[l] + z.im[h]) * 0.5
          let oddI = (z.re[h] - z.re[l]) * 0.5
          let turnedR = oddR * c - oddI * s
          let turnedI = oddR * s + oddI * c
          real[l] = evenR + turnedR
          imaginary[l] = evenI + turnedI
          real[h] = evenR - turnedR
          imaginary[h] = turnedI - evenI
        }
      }
    }
  }

  /// Converts the bins of the signals to the spectra of the half-length sequences, scaled for the
  /// inverse transform.
  @_noLocks
  private func fold(
    real: UnsafePointer<Float>, imaginary: UnsafePointer<Float>, into z: SplitBuffer
  ) {
    let scale = 0.5 / Float(half)
    for lane in 0..<batch {
      let (dc, top) = (real[lane], real[half * batch + lane])
      z.re[lane] = (dc + top) * scale
      z.im[lane] = (dc - top) * scale
    }
    for k in stride(from: 1, through: half / 2, by: 1) {
      let (low, high) = (k * batch, (half - k) * batch)
      let (c, s) = (foldTwiddles.pointer[2 * k], -foldTwiddles.pointer[2 * k + 1])
      for lane in 0..<batch {
        let (l, h) = (low + lane, high + lane)
        let evenR = (real[l] + real[h]) * scale
        let evenI = (imaginary[l] - imaginary[h]) * scale
        let differenceR = (real[l] - real[h]) * scale
        let differenceI = (imaginary[l] + imaginary[h]) * scale
        let oddR = differenceR * c - differenceI * s
        let oddI = differenceR * s + differenceI * c
        z.re[l] = evenR - oddI
        z.im[l] = evenI + oddR
        z.re[h] = evenR + oddI
        z.im[h] = oddR - evenI
      }
    }
  }
}
