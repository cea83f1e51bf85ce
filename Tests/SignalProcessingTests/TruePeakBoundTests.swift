// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import SignalProcessing

/// The limiter does not examine a waveform whose bound is below the target, so the bound must hold
/// for every waveform.
@Suite struct TruePeakBoundTests {
  @Test func estimateNeverExceedsItsBound() {
    let interpolator = TruePeakInterpolator()
    defer { interpolator.deallocate() }
    var random = SeededGenerator(1)
    for trial in 0..<20_000 {
      let context = Self.context(of: trial % 5, using: &random)
      let bound = interpolator.bound(peak: Self.peak(context), bend: Self.bend(context))
      let estimate = Self.estimate(context, by: interpolator)
      #expect(estimate <= bound, "kind \(trial % 5), trial \(trial)")
    }
  }

  /// Low frequencies are nearly straight between samples, so tight bounds avoid an examination.
  @Test(arguments: [(100.0, 1.002), (1_000, 1.04), (4_000, 1.6)])
  func lowFrequenciesHaveTightBounds(frequency: Double, limit: Float) {
    let interpolator = TruePeakInterpolator()
    defer { interpolator.deallocate() }
    let context = Self.sine(frequency: frequency / 48_000, phase: 0.3)
    #expect(interpolator.bound(peak: 1, bend: Self.bend(context)) < limit)
  }

  private static func context(of kind: Int, using random: inout SeededGenerator) -> [Float] {
    let noise = (0..<TruePeakInterpolator.contextFrames).map { _ in
      Float.random(in: -1...1, using: &random)
    }
    let tone = sine(
      frequency: .random(in: 0...0.5, using: &random),
      phase: .random(in: 0...(2 * .pi), using: &random))
    switch kind {
    case 0: return noise
    case 1: return noise.map { $0 < 0 ? -1 : 1 }
    case 2: return tone
    case 3: return tone.map { $0 < 0 ? -1 : 1 }
    default:
      var held: Float = 0
      return noise.map {
        held = 0.8 * held + 0.2 * $0
        return held
      }
    }
  }

  /// - Parameter frequency: in cycles per frame.
  private static func sine(frequency: Double, phase: Double) -> [Float] {
    (0..<TruePeakInterpolator.contextFrames).map {
      Float(sin(2 * .pi * frequency * Double($0) + phase))
    }
  }

  private static func peak(_ context: [Float]) -> Float {
    context.reduce(0) { max($0, abs($1)) }
  }

  private static func bend(_ context: [Float]) -> Float {
    var largest: Float = 0
    for i in 1..<(context.count - 1) {
      largest = max(largest, abs(context[i - 1] - 2 * context[i] + context[i + 1]))
    }
    return largest
  }

  private static func estimate(
    _ context: [Float], by interpolator: TruePeakInterpolator
  ) -> Float {
    var peaks = [Float](repeating: 0, count: TruePeakInterpolator.cellFrames)
    interpolator.measure(context, raising: &peaks, above: 0, margin: 0)
    return peaks.max() ?? 0
  }
}
