// SPDX-License-Identifier: Apache-2.0

internal import CRealtime

/// The discrete Fourier transform of real signals, several at once.
///
/// `batch` signals lie interleaved, sample by sample: `time[n * batch + b]`. Their spectra lie split
/// and interleaved the same way: `real[k * batch + b]`, bins 0 to size / 2. Each signal thus
/// travels in a lane of its own and the butterflies need no shuffles.
///
/// Method: Stockham autosort, radix 4 with one radix-2 stage where needed (Stockham 1966; Van Loan,
/// Computational Frameworks for the FFT, 1992, section 1.7), on the complex sequence of half
/// length that even and odd samples form (Cooley, Lewis, Welch 1970).
///
/// ## Threading
/// One instance owns scratch memory: one caller at a time. No call allocates, locks or waits.
public struct RealFFT: ~Copyable, @unchecked Sendable {
  /// Samples of one signal: a power of two from 4.
  public let size: Int
  /// Signals transformed together.
  public let batch: Int
  /// Bins of one spectrum: size / 2 + 1.
  public var bins: Int { size / 2 + 1 }

  private let half: Int
  private let stageTwiddles: AlignedFloats
  private let foldTwiddles: AlignedFloats
  private let scratch: AlignedFloats

  public init(size: Int, batch: Int = 1) {
    precondition(size >= 4 && size & (size - 1) == 0, "the size is a power of two from 4")
    precondition(batch >= 1)
    self.size = size
    self.batch = batch
    half = size / 2
    stageTwiddles = Self.makeStageTwiddles(half: half)
    foldTwiddles = AlignedFloats(count: 2 * (half / 2 + 1))
    for k in 0...(half / 2) {
      let angle = -2 * Double.pi * Double(k) / Double(size)
      foldTwiddles.pointer[2 * k] = Float(realtime_cos(angle))
      foldTwiddles.pointer[2 * k + 1] = Float(realtime_sin(angle))
    }
    scratch = AlignedFloats(count: 4 * half * batch)
  }

  /// Powers 1, 2 and 3 of every stage's roots, in the order of use.
  private static func makeStageTwiddles(half: Int) -> AlignedFloats {
    let table = AlignedFloats(count: 6 * max(1, half / 2))
    var (n, at) = (half, 0)
    while n >= 4 {
      for p in 0..<(n / 4) {
        for power in 1...3 {
          let angle = -2 * Double.pi * Double(p * power) / Double(n)
          table.pointer[at] = Float(realtime_cos(angle))
          table.pointer[at + 1] = Float(realtime_sin(angle))
          at += 2
        }
      }
      n /= 4
    }
    return table
  }

  /// Spectra of `batch` signals; unscaled.
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
    let length = half * batch
    let (a, b) = (scratch.pointer, scratch.pointer + 2 * length)
    let result = transform(
      re: time, im: time + batch, rowStride: 2 * batch,
      first: SplitBuffer(re: b, im: b + length), second: SplitBuffer(re: a, im: a + length))
    unfold(result, real: real, imaginary: imaginary)
  }

  /// Signals of `batch` spectra, scaled so that it undoes `forward`.
  ///
  /// - Parameters:
  ///   - real: (size / 2 + 1) x batch values.
  ///   - imaginary: (size / 2 + 1) x batch values; those of bins 0 and size / 2 are taken as zero.
  ///   - time: size x batch samples.
  @_noLocks
  public func inverse(
    real: UnsafePointer<Float>, imaginary: UnsafePointer<Float>, time: UnsafeMutablePointer<Float>
  ) {
    let length = half * batch
    let (a, b) = (scratch.pointer, scratch.pointer + 2 * length)
    fold(real: real, imaginary: imaginary, into: SplitBuffer(re: a, im: a + length))
    // Swapping the parts turns the forward transform into the inverse one.
    let result = transform(
      re: a + length, im: a, rowStride: batch,
      first: SplitBuffer(re: b, im: b + length), second: SplitBuffer(re: a, im: a + length))
    for row in 0..<half {
      let (from, to) = (row * batch, 2 * row * batch)
      for lane in 0..<batch {
        time[to + lane] = result.im[from + lane]
        time[to + batch + lane] = result.re[from + lane]
      }
    }
  }

  /// The complex transform of `half` rows; says in which of the two buffers the result lies.
  @_noLocks
  private func transform(
    re: UnsafePointer<Float>, im: UnsafePointer<Float>, rowStride: Int,
    first: SplitBuffer, second: SplitBuffer
  ) -> SplitBuffer {
    var source = StageSource(re: re, im: im, rowStride: rowStride)
    var (target, other) = (first, second)
    var (n, width) = (half, batch)
    var twiddles = UnsafePointer(stageTwiddles.pointer)
    while n >= 4 {
      radix4Stage(source, target, n: n, width: width, twiddles)
      twiddles += 6 * (n / 4)
      source = StageSource(re: target.re, im: target.im, rowStride: 4 * width)
      swap(&target, &other)
      n /= 4
      width *= 4
    }
    if n == 2 {
      radix2Stage(source, target, width: width)
      return target
    }
    return other
  }

  /// From the half-length complex spectrum to the real signals' bins.
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

  /// From the real signals' bins to the half-length complex spectrum, scaled for the inverse.
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
