// SPDX-License-Identifier: Apache-2.0

private import SignalProcessing

/// A matrix of gains that go linearly from one point of the grid to the next.
///
/// Inputs and outputs lie channel after channel; an input is readable up to the next multiple of 8
/// frames.
///
/// ## Threading
/// One caller at a time; nothing allocates, locks or waits.
public struct RampedMatrix: ~Copyable, @unchecked Sendable {
  public let inputs: Int
  public let outputs: Int
  /// inputs x outputs: the gains that the present cell ends with, for the caller to set.
  public var end: UnsafeMutablePointer<Float> { @_noLocks get { ends.pointer } }

  private let cellFrames = SoundfieldRotator.gridFrames
  private let starts: AlignedFloats
  private let slopes: AlignedFloats
  private let ends: AlignedFloats

  public init(inputs: Int, outputs: Int) {
    (self.inputs, self.outputs) = (inputs, outputs)
    starts = AlignedFloats(count: inputs * outputs)
    slopes = AlignedFloats(count: inputs * outputs)
    ends = AlignedFloats(count: inputs * outputs)
  }

  /// The next cell begins with the gains that the last one ended with.
  @_noLocks
  public func beginCell() {
    for i in 0..<(inputs * outputs) { starts.pointer[i] = ends.pointer[i] }
  }

  /// The gains at the cell's end have been set.
  @_noLocks
  public func setSlopes() {
    let scale = 1 / Float(cellFrames)
    for i in 0..<(inputs * outputs) {
      slopes.pointer[i] = (ends.pointer[i] - starts.pointer[i]) * scale
    }
  }

  /// Mixes frames of one cell.
  ///
  /// - Parameters:
  ///   - input: inputs x frames.
  ///   - inputStride: floats from one input to the next.
  ///   - output: outputs x frames, overwritten; not the same memory.
  ///   - outputStride: floats from one output to the next.
  ///   - frames: at most the rest of the cell.
  ///   - offset: frames of the cell that are done.
  ///   - isStill: whether the slopes are zero.
  @_noLocks
  public func mix(
    _ input: UnsafePointer<Float>, inputStride: Int, _ output: UnsafeMutablePointer<Float>,
    outputStride: Int, frames: Int, offset: Int, isStill: Bool
  ) {
    let ramp = SIMD8<Float>(0, 1, 2, 3, 4, 5, 6, 7)
    for o in 0..<outputs {
      var n = 0
      while n < frames {
        var (sum, change) = (SIMD8<Float>(repeating: 0), SIMD8<Float>(repeating: 0))
        for i in 0..<inputs {
          let x = load8(input + i * inputStride + n)
          sum += x * starts.pointer[i * outputs + o]
          if !isStill { change += x * slopes.pointer[i * outputs + o] }
        }
        if !isStill { sum += change * (ramp + Float(offset + n)) }
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
