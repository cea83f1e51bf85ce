// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import SignalProcessing

@Suite struct RealFFTTests {
  static let shapes = [4, 8, 16, 64, 128, 256, 512, 2048].flatMap { size in
    [1, 2, 3, 4, 8, 12, 16].map { (size, $0) }
  }

  /// Computes the defining sum in double precision.
  static func transform(_ x: [Float]) -> [(Double, Double)] {
    (0...(x.count / 2)).map { k in
      var (re, im) = (0.0, 0.0)
      for (n, v) in x.enumerated() {
        let angle = -2 * Double.pi * Double(k * n % x.count) / Double(x.count)
        re += Double(v) * cos(angle)
        im += Double(v) * sin(angle)
      }
      return (re, im)
    }
  }

  @Test(arguments: shapes)
  func forwardTransformMatchesTheDefinition(size: Int, batch: Int) {
    var random = SeededGenerator.forTest()
    let fft = RealFFT(size: size, batch: batch)
    let time = AlignedFloats(count: size * batch)
    for i in 0..<(size * batch) { time.pointer[i] = Float.random(in: -1...1, using: &random) }
    let re = AlignedFloats(count: fft.bins * batch)
    let im = AlignedFloats(count: fft.bins * batch)
    fft.forward(time.pointer, real: re.pointer, imaginary: im.pointer)
    let (lane, scale) = (batch - 1, Double(size))
    let truth = Self.transform((0..<size).map { time.pointer[$0 * batch + lane] })
    for k in 0..<fft.bins {
      #expect(abs(Double(re.pointer[k * batch + lane]) - truth[k].0) < 1e-7 * scale + 1e-6)
      #expect(abs(Double(im.pointer[k * batch + lane]) - truth[k].1) < 1e-7 * scale + 1e-6)
    }
  }

  @Test(arguments: shapes)
  func inverseUndoesTheForwardTransform(size: Int, batch: Int) {
    var random = SeededGenerator.forTest()
    let fft = RealFFT(size: size, batch: batch)
    let time = AlignedFloats(count: size * batch)
    let back = AlignedFloats(count: size * batch)
    for i in 0..<(size * batch) { time.pointer[i] = Float.random(in: -1...1, using: &random) }
    let re = AlignedFloats(count: fft.bins * batch)
    let im = AlignedFloats(count: fft.bins * batch)
    fft.forward(time.pointer, real: re.pointer, imaginary: im.pointer)
    fft.inverse(real: re.pointer, imaginary: im.pointer, time: back.pointer)
    for i in 0..<(size * batch) { #expect(abs(time.pointer[i] - back.pointer[i]) < 1e-6) }
  }
}
