// SPDX-License-Identifier: Apache-2.0

internal import CRealtime

/// The discrete Fourier transform of `batch` interleaved complex sequences. Value n of sequence b
/// is at index n * rowStride + b of the input (see `StageSource`) and at index n * batch + b of the
/// result.
///
/// The algorithm is Stockham autosort, radix 4, with one radix-2 stage if needed (Stockham 1966;
/// Van Loan, Computational Frameworks for the FFT, 1992, section 1.7).
///
/// ## Threading
/// Use an instance from one thread at a time. After `init`, no call allocates, locks or waits.
struct ComplexFFT: ~Copyable, @unchecked Sendable {
  let size: Int
  let batch: Int
  private let twiddles: AlignedFloats
  private let scratch: AlignedFloats

  /// Prepares the transform of `batch` sequences. `size` must be a power of two, at least 2.
  init(size: Int, batch: Int) {
    self.size = size
    self.batch = batch
    twiddles = Self.makeTwiddles(size: size)
    scratch = AlignedFloats(count: 4 * size * batch)
  }

  /// Returns the factors of the radix-4 stages in the order of use. For a stage that splits
  /// transforms of length n, they are the first three powers of e^(-2 pi i p / n) for each p from 0
  /// to n / 4 - 1.
  private static func makeTwiddles(size: Int) -> AlignedFloats {
    let table = AlignedFloats(count: 6 * max(1, size / 2))
    var (n, at) = (size, 0)
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

  /// Returns scratch memory for the input of `transform`.
  @_noLocks
  func source() -> SplitBuffer {
    SplitBuffer(re: scratch.pointer, im: scratch.pointer + size * batch)
  }

  /// Computes the forward transform, unscaled. With real and imaginary parts swapped in the input
  /// and the result, this is the inverse transform.
  ///
  /// - Parameter input: `size` rows of `batch` values; may be the memory of `source()`.
  /// - Returns: the buffer with the result, valid until the next call or the next write to the
  ///   memory of `source()`.
  @_noLocks
  func transform(_ input: StageSource) -> SplitBuffer {
    let length = size * batch
    let base = scratch.pointer
    var target = SplitBuffer(re: base + 2 * length, im: base + 3 * length)
    var other = SplitBuffer(re: base, im: base + length)
    var source = input
    var (n, width) = (size, batch)
    var roots = UnsafePointer(twiddles.pointer)
    while n >= 4 {
      radix4Stage(source, target, n: n, width: width, roots)
      roots += 6 * (n / 4)
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
}
