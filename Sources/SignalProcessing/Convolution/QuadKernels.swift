// SPDX-License-Identifier: Apache-2.0

internal import Kernels
internal import KernelsAVX2
internal import KernelsAVX512

// These methods call the kernels of the chosen instruction set.

extension InstructionSet {
  @_noLocks
  func interleave(
    _ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, _ c: UnsafePointer<Float>,
    _ d: UnsafePointer<Float>, frames: Int, rows: UnsafeMutablePointer<Float>
  ) -> Bool {
    switch self {
    case .baseline: Kernels.interleaveQuad(a, b, c, d, frames: frames, rows: rows)
    case .avx2: KernelsAVX2.interleaveQuad(a, b, c, d, frames: frames, rows: rows)
    case .avx512: KernelsAVX512.interleaveQuad(a, b, c, d, frames: frames, rows: rows)
    }
  }

  @_noLocks
  func splitEars(
    _ re: UnsafePointer<Float>, _ overlap: UnsafePointer<Float>, frames: Int, isSymmetric: Bool,
    left: UnsafeMutablePointer<Float>, right: UnsafeMutablePointer<Float>
  ) {
    switch self {
    case .baseline:
      Kernels.splitEars(
        re, overlap, frames: frames, isSymmetric: isSymmetric, left: left, right: right)
    case .avx2:
      KernelsAVX2.splitEars(
        re, overlap, frames: frames, isSymmetric: isSymmetric, left: left, right: right)
    case .avx512:
      KernelsAVX512.splitEars(
        re, overlap, frames: frames, isSymmetric: isSymmetric, left: left, right: right)
    }
  }

  /// Sums products of spectra and filters; see `Kernels.addSymmetricProducts` or, if `masks` is
  /// nil, `Kernels.addProducts`.
  @_noLocks
  func addProducts(
    _ spectra: UnsafePointer<Float>, stride: Int, _ filters: UnsafePointer<Float>,
    filterStride: Int, _ runs: UnsafePointer<Int>, count: Int, masks: UnsafePointer<Float>?,
    chunks: Int, before: UnsafePointer<Float>?, sums: UnsafeMutablePointer<Float>
  ) {
    guard let masks else {
      switch self {
      case .baseline:
        Kernels.addProducts(
          spectra: spectra, spectraStride: stride, filters: filters, filterStride: filterStride,
          runs: runs, runCount: count, chunks: chunks, before: before, sums: sums)
      case .avx2:
        KernelsAVX2.addProducts(
          spectra: spectra, spectraStride: stride, filters: filters, filterStride: filterStride,
          runs: runs, runCount: count, chunks: chunks, before: before, sums: sums)
      case .avx512:
        KernelsAVX512.addProducts(
          spectra: spectra, spectraStride: stride, filters: filters, filterStride: filterStride,
          runs: runs, runCount: count, chunks: chunks, before: before, sums: sums)
      }
      return
    }
    switch self {
    case .baseline:
      Kernels.addSymmetricProducts(
        spectra: spectra, spectraStride: stride, filters: filters, filterStride: filterStride,
        runs: runs, runCount: count, masks: masks, chunks: chunks, before: before, sums: sums)
    case .avx2:
      KernelsAVX2.addSymmetricProducts(
        spectra: spectra, spectraStride: stride, filters: filters, filterStride: filterStride,
        runs: runs, runCount: count, masks: masks, chunks: chunks, before: before, sums: sums)
    case .avx512:
      KernelsAVX512.addSymmetricProducts(
        spectra: spectra, spectraStride: stride, filters: filters, filterStride: filterStride,
        runs: runs, runCount: count, masks: masks, chunks: chunks, before: before, sums: sums)
    }
  }

  /// Rotates the signals of one spherical-harmonic degree of a soundfield, for at most 16 frames;
  /// see `Kernels.turnDegree`.
  @_noLocks
  public func turnDegree(
    _ input: UnsafePointer<Float>, _ output: UnsafeMutablePointer<Float>, stride: Int, size: Int,
    frames: Int, gains: UnsafePointer<Float>, slopes: UnsafePointer<Float>?,
    curves: UnsafePointer<Float>?
  ) {
    switch self {
    case .baseline:
      Kernels.turnDegree(
        input, output, stride: stride, size: size, frames: frames, gains: gains, slopes: slopes,
        curves: curves)
    case .avx2:
      KernelsAVX2.turnDegree(
        input, output, stride: stride, size: size, frames: frames, gains: gains, slopes: slopes,
        curves: curves)
    case .avx512:
      KernelsAVX512.turnDegree(
        input, output, stride: stride, size: size, frames: frames, gains: gains, slopes: slopes,
        curves: curves)
    }
  }

  /// Computes the rotation matrix of one spherical-harmonic degree from the matrices of degree 1
  /// and of the degree below; see `Kernels.raiseDegree`.
  @_noLocks
  public func raiseDegree(
    first: UnsafePointer<Double>, below: UnsafePointer<Double>,
    above: UnsafeMutablePointer<Double>, degree: Int,
    coefficients: UnsafePointer<Double>, places: UnsafePointer<Int>,
    columns: UnsafePointer<Double>
  ) {
    switch self {
    case .baseline:
      Kernels.raiseDegree(
        first: first, below: below, above: above, degree: degree,
        coefficients: coefficients, places: places, columns: columns)
    case .avx2:
      KernelsAVX2.raiseDegree(
        first: first, below: below, above: above, degree: degree,
        coefficients: coefficients, places: places, columns: columns)
    case .avx512:
      KernelsAVX512.raiseDegree(
        first: first, below: below, above: above, degree: degree,
        coefficients: coefficients, places: places, columns: columns)
    }
  }
}
