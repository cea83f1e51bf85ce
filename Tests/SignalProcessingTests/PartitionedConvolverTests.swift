// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import SignalProcessing

@Suite struct PartitionedConvolverTests {
  struct Shape: Sendable, CustomTestStringConvertible {
    let inputs: Int
    let taps: Int
    let partition: Int
    var testDescription: String { "\(inputs) inputs, \(taps) taps, partitions of \(partition)" }
  }

  static let shapes = [
    Shape(inputs: 1, taps: 1, partition: 16), Shape(inputs: 4, taps: 100, partition: 32),
    Shape(inputs: 4, taps: 128, partition: 128), Shape(inputs: 9, taps: 70, partition: 64),
    Shape(inputs: 16, taps: 300, partition: 128), Shape(inputs: 3, taps: 50, partition: 512),
    Shape(inputs: 5, taps: 600, partition: 16), Shape(inputs: 4, taps: 2000, partition: 256),
  ]

  static let sets = InstructionSet.allCases.filter { $0 <= .widest }

  static func noise(_ rows: Int, _ count: Int) -> [[Float]] {
    (0..<rows).map { _ in (0..<count).map { _ in Float.random(in: -1...1) } }
  }

  static func convolve(_ x: [[Float]], _ h: [[Float]]) -> [Double] {
    var y = [Double](repeating: 0, count: x[0].count)
    for (x, h) in zip(x, h) {
      for n in 0..<x.count {
        for k in 0..<min(h.count, n + 1) { y[n] += Double(h[k]) * Double(x[n - k]) }
      }
    }
    return y
  }

  static func run(
    _ convolver: borrowing PartitionedConvolver, _ x: [[Float]], calls: [Int]
  ) -> ([Float], [Float]) {
    let total = x[0].count
    let stride = total + 8
    let input = AlignedFloats(count: stride * x.count)
    for (c, row) in x.enumerated() {
      for (i, v) in row.enumerated() { input.pointer[c * stride + i] = v }
    }
    var left = [Float](repeating: 0, count: total)
    var right = left
    var (done, turn) = (0, 0)
    while done < total {
      let n = min(calls[turn % calls.count], total - done, convolver.framesToBorder)
      left.withUnsafeMutableBufferPointer { l in
        right.withUnsafeMutableBufferPointer { r in
          convolver.process(
            input: input.pointer + done, stride: stride, frames: n, left: l.baseAddress! + done,
            right: r.baseAddress! + done)
        }
      }
      done += n
      turn += 1
    }
    return (left, right)
  }

  static func residualDecibels(_ a: [Float], _ b: [Double]) -> Double {
    var (error, energy) = (0.0, 1e-30)
    for (a, b) in zip(a, b) {
      error += (Double(a) - b) * (Double(a) - b)
      energy += b * b
    }
    return 10 * log10(error / energy + 1e-30)
  }

  /// Compares the output with the defining sum, for calls that do and do not end at partition
  /// borders.
  @Test(arguments: shapes, sets)
  func outputMatchesDirectConvolution(shape: Shape, set: InstructionSet) {
    let x = Self.noise(shape.inputs, 700 + shape.taps)
    let left = Self.noise(shape.inputs, shape.taps)
    let right = Self.noise(shape.inputs, shape.taps)
    let truth = (Self.convolve(x, left), Self.convolve(x, right))
    for calls in [[4096], [1], [64], [17, 40, 3]] {
      let convolver = PartitionedConvolver(
        left: left, right: right, partition: shape.partition, set: set)
      let isSymmetric = convolver.isSymmetric
      #expect(!isSymmetric)
      let y = Self.run(convolver, x, calls: calls)
      #expect(Self.residualDecibels(y.0, truth.0) < -125)
      #expect(Self.residualDecibels(y.1, truth.1) < -125)
    }
  }

  /// Tests filters as long as a room response, which need several partition sizes with deferred
  /// levels.
  @Test(arguments: [32, 128, 512], sets)
  func longFiltersMatchDirectConvolution(partition: Int, set: InstructionSet) {
    let x = Self.noise(2, 12000)
    let (left, right) = (Self.noise(2, 8192), Self.noise(2, 8192))
    let truth = (Self.convolve(x, left), Self.convolve(x, right))
    for calls in [[4096], [48, 1, 100]] {
      let convolver = PartitionedConvolver(
        left: left, right: right, partition: partition, set: set)
      let y = Self.run(convolver, x, calls: calls)
      #expect(Self.residualDecibels(y.0, truth.0) < -120)
      #expect(Self.residualDecibels(y.1, truth.1) < -120)
    }
  }

  /// Tests every number of even inputs, which reach both ears equally, among odd ones.
  @Test(arguments: 0...9, sets)
  func symmetricFiltersMatchDirectConvolution(evenCount: Int, set: InstructionSet) {
    var random = SeededGenerator.forTest()
    let x = Self.noise(9, 900)
    let left = Self.noise(9, 500)
    let even = Set((0..<9).shuffled(using: &random).prefix(evenCount))
    let right = left.enumerated().map { c, h in even.contains(c) ? h : h.map { -$0 } }
    let truth = (Self.convolve(x, left), Self.convolve(x, right))
    for calls in [[4096], [17, 40, 3]] {
      let convolver = PartitionedConvolver(left: left, right: right, partition: 64, set: set)
      let isSymmetric = convolver.isSymmetric
      #expect(isSymmetric)
      let y = Self.run(convolver, x, calls: calls)
      #expect(Self.residualDecibels(y.0, truth.0) < -125)
      #expect(Self.residualDecibels(y.1, truth.1) < -125)
    }
  }

  /// Skipping silent inputs and sections must not change the output.
  @Test(arguments: [16, 64])
  func skippingSilenceMatchesDirectConvolution(partition: Int) {
    var x = Self.noise(9, 3000)
    for c in 0..<9 where c != 6 { for n in 0..<3000 where c > 3 || n % 1000 > 300 { x[c][n] = 0 } }
    for n in 1200..<2600 { x[6][n] = n % 2 == 0 ? 0 : -0.0 }
    let (left, right) = (Self.noise(9, 700), Self.noise(9, 700))
    let truth = (Self.convolve(x, left), Self.convolve(x, right))
    for calls in [[4096], [17, 40, 3]] {
      let convolver = PartitionedConvolver(left: left, right: right, partition: partition)
      let y = Self.run(convolver, x, calls: calls)
      #expect(Self.residualDecibels(y.0, truth.0) < -125)
      #expect(Self.residualDecibels(y.1, truth.1) < -125)
    }
  }

  @Test func planCoversTheFilterOnceAndMeetsDeadlines() {
    for taps in [1, 128, 129, 512, 1500, 8192, 60000] {
      for block in [16, 32, 64, 128, 256, 512] {
        for quads in [1, 4, 16] {
          let plan = PartitionPlan(taps: taps, block: block, quads: quads, productCost: 0.8)
          var next = 0
          for level in plan.levels {
            #expect(level.offset == next)
            #expect(level.size % block == 0)
            if next > 0 { #expect(next == level.size * (level.isDeferred ? 2 : 1)) }
            next += level.size * level.partitions
          }
          #expect(plan.levels[0].size == block)
          #expect(!plan.levels[0].isDeferred)
          #expect(next >= taps)
        }
      }
    }
  }

  @Test func resetClearsAllState() {
    let x = Self.noise(4, 300)
    let h = Self.noise(4, 200)
    let convolver = PartitionedConvolver(left: h, right: h, partition: 64)
    let first = Self.run(convolver, x, calls: [50])
    convolver.reset()
    let second = Self.run(convolver, x, calls: [50])
    #expect(first.0 == second.0)
  }
}
