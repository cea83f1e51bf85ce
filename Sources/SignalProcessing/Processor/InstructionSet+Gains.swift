// SPDX-License-Identifier: Apache-2.0

internal import Kernels
internal import KernelsAVX2
internal import KernelsAVX512

// These methods call the kernels of the chosen instruction set.

extension InstructionSet {
  /// Mixes inputs into outputs with gains that change between two grid points; see
  /// `Kernels.mixRamped`.
  @_noLocks
  public func mixRamped(
    _ input: UnsafePointer<Float>, inputStride: Int, active: UnsafePointer<Int>, activeCount: Int,
    _ output: UnsafeMutablePointer<Float>, outputStride: Int, outputs: Int, frames: Int,
    starts: UnsafePointer<Float>, slopes: UnsafePointer<Float>?, curves: UnsafePointer<Float>?,
    offset: Int, scale: Float
  ) {
    switch self {
    case .baseline:
      Kernels.mixRamped(
        input, inputStride: inputStride, active: active, activeCount: activeCount, output,
        outputStride: outputStride, outputs: outputs, frames: frames, starts: starts,
        slopes: slopes, curves: curves, offset: offset, scale: scale)
    case .avx2:
      KernelsAVX2.mixRamped(
        input, inputStride: inputStride, active: active, activeCount: activeCount, output,
        outputStride: outputStride, outputs: outputs, frames: frames, starts: starts,
        slopes: slopes, curves: curves, offset: offset, scale: scale)
    case .avx512:
      KernelsAVX512.mixRamped(
        input, inputStride: inputStride, active: active, activeCount: activeCount, output,
        outputStride: outputStride, outputs: outputs, frames: frames, starts: starts,
        slopes: slopes, curves: curves, offset: offset, scale: scale)
    }
  }

  /// Lists the inputs that are not silent, and returns their number; see `Kernels.listActive`.
  @_noLocks
  public func listActive(
    _ input: UnsafePointer<Float>, stride: Int, inputs: Int, frames: Int,
    into active: UnsafeMutablePointer<Int>
  ) -> Int {
    switch self {
    case .baseline:
      Kernels.listActive(input, stride: stride, inputs: inputs, frames: frames, into: active)
    case .avx2:
      KernelsAVX2.listActive(input, stride: stride, inputs: inputs, frames: frames, into: active)
    case .avx512:
      KernelsAVX512.listActive(input, stride: stride, inputs: inputs, frames: frames, into: active)
    }
  }
}
