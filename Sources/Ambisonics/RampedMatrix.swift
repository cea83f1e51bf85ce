// SPDX-License-Identifier: Apache-2.0

public import SignalProcessing

/// A matrix of gains that follow a straight line or a parabola from one grid point to the next.
///
/// Inputs must be readable for the number of frames to mix, rounded up to a multiple of 8. Silent
/// inputs take almost no time.
///
/// ## Threading
/// One caller at a time. `mix` does not allocate, lock or wait.
public struct RampedMatrix: ~Copyable, @unchecked Sendable {
  public let inputs: Int
  public let outputs: Int
  /// The gains: `outputs` values for each input.
  public let gains: RampedGains

  private let set: InstructionSet
  /// The indices of the inputs that are not silent in the current call of `mix`.
  private let active: UnsafeMutablePointer<Int>

  public init(inputs: Int, outputs: Int, set: InstructionSet = .current) {
    (self.inputs, self.outputs, self.set) = (inputs, outputs, set)
    gains = RampedGains(count: inputs * outputs)
    active = .allocate(capacity: max(1, inputs))
    active.initialize(repeating: 0, count: max(1, inputs))
  }

  deinit { active.deallocate() }

  /// Mixes the inputs into the outputs for the frames of a cell.
  ///
  /// - Parameters:
  ///   - input: inputs x frames, starting at frame `cell.frame`.
  ///   - output: outputs x frames, overwritten; must not overlap `input`.
  ///   - inputStride: floats from one input to the next.
  ///   - outputStride: floats from one output to the next.
  ///   - cell: the frames to mix.
  ///   - motion: the interpolation of the gains in the cell.
  @_noLocks
  public func mix(
    _ input: UnsafePointer<Float>, inputStride: Int, _ output: UnsafeMutablePointer<Float>,
    outputStride: Int, cell: GridCell, motion: GridMotion
  ) {
    let count = set.listActive(
      input, stride: inputStride, inputs: inputs, frames: cell.frames, into: active)
    set.mixRamped(
      input, inputStride: inputStride, active: active, activeCount: count, output,
      outputStride: outputStride, outputs: outputs, frames: cell.frames,
      starts: gains.starts.pointer, slopes: motion.moves ? gains.slopes.pointer : nil,
      curves: motion.bends ? gains.curves.pointer : nil, offset: cell.phase,
      scale: 1 / Float(PoseGrid.cellFrames))
  }
}
