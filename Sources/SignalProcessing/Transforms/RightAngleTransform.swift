// SPDX-License-Identifier: Apache-2.0

internal import CRealtime
internal import Kernels
internal import KernelsAVX2
internal import KernelsAVX512

/// The right-angle transform of `Kernels.transformQuad`, with its tables of twiddle factors.
///
/// ## Threading
/// An instance is immutable. After `init`, no call allocates, locks or waits.
struct RightAngleTransform: ~Copyable, @unchecked Sendable {
  /// The number of samples of a block: a power of two, at least 16. A spectrum has `size` bins.
  let size: Int
  /// The size of the scratch memory of `forward`, in floats.
  var scratchCount: Int { 8 * size }
  private let twiddles: AlignedFloats
  private let set: InstructionSet

  init(size: Int, set: InstructionSet = .current) {
    precondition(size >= 16 && size & (size - 1) == 0, "the size must be a power of two >= 16")
    self.size = size
    self.set = set
    var angles = [[Double]]()
    // The factors of the first stage include the weights e^(i pi p / (2 size)).
    for p in 0..<(size / 4) {
      angles.append((0..<4).map { .pi * Double(p) * (0.5 - 2 * Double($0)) / Double(size) })
    }
    var table = Self.chunks(angles)
    var n = size / 4
    while n >= 8 {
      let radix = n == 8 ? 2 : 4
      let stage = (0..<(n / radix)).map { p in
        (1..<radix).map { -2 * Double.pi * Double(p * $0) / Double(n) }
      }
      table += Self.chunks(stage)
      n /= radix
      if radix == 2 { break }
    }
    twiddles = AlignedFloats(count: table.count)
    for (i, value) in table.enumerated() { twiddles.pointer[i] = value }
  }

  /// Converts `angles[row][factor]` to a table of chunks, each for four rows and one factor. A
  /// chunk is 16 cosines, four equal ones for each row, then 16 sines in the same order.
  private static func chunks(_ angles: [[Double]]) -> [Float] {
    var table = [Float]()
    for first in stride(from: 0, to: angles.count, by: 4) {
      for factor in angles[0].indices {
        for function in [realtime_cos, realtime_sin] {
          for row in first..<(first + 4) {
            table += [Float](repeating: Float(function(angles[row][factor])), count: 4)
          }
        }
      }
    }
    return table
  }

  /// Computes the spectra of the four signals of a quad; see `Kernels.transformQuad`.
  @_noLocks
  func forward(
    _ rows: UnsafePointer<Float>, scratch: UnsafeMutablePointer<Float>,
    spectrum: UnsafeMutablePointer<Float>, stride: Int
  ) {
    let table = UnsafePointer(twiddles.pointer)
    switch set {
    case .baseline:
      Kernels.transformQuad(
        rows, size: size, twiddles: table, scratch: scratch, spectrum: spectrum, stride: stride)
    case .avx2:
      KernelsAVX2.transformQuad(
        rows, size: size, twiddles: table, scratch: scratch, spectrum: spectrum, stride: stride)
    case .avx512:
      KernelsAVX512.transformQuad(
        rows, size: size, twiddles: table, scratch: scratch, spectrum: spectrum, stride: stride)
    }
  }

  /// Computes the inverse transform, multiplied by `size`; see `Kernels.transformQuadBack`.
  @_noLocks
  func inverse(
    _ spectrum: UnsafePointer<Float>, re: UnsafeMutablePointer<Float>,
    im: UnsafeMutablePointer<Float>
  ) {
    let table = UnsafePointer(twiddles.pointer)
    switch set {
    case .baseline:
      Kernels.transformQuadBack(spectrum, size: size, twiddles: table, re: re, im: im)
    case .avx2:
      KernelsAVX2.transformQuadBack(spectrum, size: size, twiddles: table, re: re, im: im)
    case .avx512:
      KernelsAVX512.transformQuadBack(spectrum, size: size, twiddles: table, re: re, im: im)
    }
  }
}
