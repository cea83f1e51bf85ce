// SPDX-License-Identifier: Apache-2.0

private import SignalProcessing

/// A matrix of gains that follow a straight line or a parabola from one grid point to the next.
///
/// Inputs must be readable for the number of frames to mix, rounded up to a multiple of 8.
///
/// ## Threading
/// One caller at a time. `mix` does not allocate, lock or wait.
public struct RampedMatrix: ~Copyable, @unchecked Sendable {
  public let inputs: Int
  public let outputs: Int
  /// The gains, inputs x outputs.
  public let gains: RampedGains

  public init(inputs: Int, outputs: Int) {
    (self.inputs, self.outputs) = (inputs, outputs)
    gains = RampedGains(count: inputs * outputs)
  }

  /// Mixes the inputs into the outputs for the frames of a cell.
  ///
  /// - Parameters:
  ///   - input: inputs x frames, starting at the first frame of `cell`.
  ///   - output: outputs x frames, overwritten; must not overlap `input`.
  ///   - inputStride: floats from one input to the next.
  ///   - outputStride: floats from one output to the next.
  @_noLocks
  public func mix(
    _ input: UnsafePointer<Float>, inputStride: Int, _ output: UnsafeMutablePointer<Float>,
    outputStride: Int, cell: GridCell, motion: GridMotion
  ) {
    let (frames, offset) = (cell.frames, cell.phase)
    let (starts, slopes) = (gains.starts.pointer, gains.slopes.pointer)
    let curves = gains.curves.pointer
    let ramp = SIMD8<Float>(0, 1, 2, 3, 4, 5, 6, 7)
    let (moves, bends) = (motion.moves, motion.bends)
    for o in 0..<outputs {
      var n = 0
      while n < frames {
        var (sum, change) = (SIMD8<Float>(repeating: 0), SIMD8<Float>(repeating: 0))
        var bend = SIMD8<Float>(repeating: 0)
        for i in 0..<inputs {
          let x = load8(input + i * inputStride + n)
          sum += x * starts[i * outputs + o]
          if moves { change += x * slopes[i * outputs + o] }
          if bends { bend += x * curves[i * outputs + o] }
        }
        let time = ramp + Float(offset + n)
        if moves { sum += change * time }
        if bends {
          let share = time * (1 / Float(PoseGrid.cellFrames))
          sum += bend * (share - share * share)
        }
        store8(sum, output + o * outputStride + n, frames - n)
        n += 8
      }
    }
  }
}

@_noLocks
@inline(__always)
private func load8(_ p: UnsafePointer<Float>) -> SIMD8<Float> {
  SIMD8(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7])
}

@_noLocks
@inline(__always)
private func store8(_ v: SIMD8<Float>, _ p: UnsafeMutablePointer<Float>, _ count: Int) {
  if count >= 8 {
    for i in 0..<8 { p[i] = v[i] }
  } else {
    for i in 0..<count { p[i] = v[i] }
  }
}
