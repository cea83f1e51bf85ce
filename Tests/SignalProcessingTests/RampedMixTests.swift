// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import SignalProcessing

@Suite struct RampedMixTests {
  private let inputs = 7
  private let outputs = 36
  private let stride = 32

  /// Mixes with one instruction set. Returns outputs x frames.
  private func mix(
    _ set: InstructionSet, _ x: borrowing AlignedFloats, _ gains: [[Float]], degree: Int,
    frames: Int, offset: Int
  ) -> [[Float]] {
    let memory = AlignedFloats(count: outputs * stride)
    let (x, y) = (x.pointer, memory.pointer)
    for i in 0..<(outputs * stride) { y[i] = 77 }
    var active = [Int](repeating: 0, count: inputs)
    let count = set.listActive(
      x, stride: stride, inputs: inputs, frames: frames, into: &active)
    gains[0].withUnsafeBufferPointer { starts in
      gains[1].withUnsafeBufferPointer { slopes in
        gains[2].withUnsafeBufferPointer { curves in
          set.mixRamped(
            x, inputStride: stride, active: active, activeCount: count, y,
            outputStride: stride, outputs: outputs, frames: frames, starts: starts.baseAddress!,
            slopes: degree > 0 ? slopes.baseAddress : nil,
            curves: degree > 1 ? curves.baseAddress : nil, offset: offset, scale: 1.0 / 16)
        }
      }
    }
    // Nothing past the frames is written.
    #expect((0..<outputs).allSatisfy { y[$0 * stride + frames] == 77 })
    return (0..<outputs).map { o in (0..<frames).map { y[o * stride + $0] } }
  }

  @Test(arguments: [(16, 0), (16, 1), (16, 2), (11, 2), (5, 1), (1, 2)])
  func mixEqualsTheFormulaWithEverySet(frames: Int, degree: Int) {
    var random = SeededGenerator.forTest()
    let gains = (0..<3).map { _ in
      (0..<(inputs * outputs)).map { _ in Float.random(in: -1...1, using: &random) }
    }
    let sound = AlignedFloats(count: inputs * stride)
    let x = sound.pointer
    for i in 0..<inputs where i != 2 && i != 5 {
      for n in 0..<frames { x[i * stride + n] = .random(in: -1...1, using: &random) }
    }
    // A silent input may hold negative zeros.
    x[2 * stride] = -0.0
    let offset = 16 - frames
    let wanted = (0..<outputs).map { o in
      (0..<frames).map { n in
        let time = Double(offset + n)
        let share = time / 16
        return (0..<inputs).reduce(0.0) { sum, i in
          let at = i * outputs + o
          var gain = Double(gains[0][at])
          if degree > 0 { gain += Double(gains[1][at]) * time }
          if degree > 1 { gain += Double(gains[2][at]) * (share - share * share) }
          return sum + gain * Double(x[i * stride + n])
        }
      }
    }
    for set in InstructionSet.allCases where set <= .widest {
      let mixed = mix(set, sound, gains, degree: degree, frames: frames, offset: offset)
      let error = zip(mixed.joined(), wanted.joined()).map { abs(Double($0) - $1) }.max() ?? 1
      #expect(error < 3e-5, "\(set)")
    }
  }

  @Test func onlySoundingInputsAreListed() {
    let sound = AlignedFloats(count: inputs * stride)
    let x = sound.pointer
    (x[stride + 15], x[4 * stride], x[6 * stride + 16]) = (1e-30, 1, 1)
    x[5 * stride + 3] = -0.0
    for set in InstructionSet.allCases where set <= .widest {
      var active = [Int](repeating: -1, count: inputs)
      let count = set.listActive(
        x, stride: stride, inputs: inputs, frames: 16, into: &active)
      #expect(active.prefix(count) == [1, 4], "\(set)")
    }
  }
}
