// SPDX-License-Identifier: Apache-2.0

/// A second-order Butterworth low-pass filter for vectors of three components, with any spacing of
/// the samples.
///
/// The filter uses the trapezoidal state-variable form (A. Simper, "Linear trapezoidal integrated
/// SVF", 2013; V. Zavalishin, "The Art of VA Filter Design", ch. 4). At a constant spacing, it is
/// equivalent to the bilinear biquad. The spacing may change from sample to sample without a jump
/// in the output. During the first time constant, the output is the mean of the input so far, as in
/// arXiv 2203.17024, section 3.4.
struct VectorLowPass: Sendable {
  private var band: SIMD3<Double>
  private var low: SIMD3<Double>
  private var sum: SIMD3<Double>
  /// The duration of the input so far, in seconds. Counting stops once it reaches `time`; until
  /// then, the output is the mean of the input.
  private var heard: Double
  private var count: Double
  private let time: Double

  /// Creates a low-pass.
  ///
  /// - Parameter time: the time constant, in seconds. The cutoff frequency in Hz is `sqrt(2) / (2 *
  ///   pi * time)`.
  @_noLocks
  init(time: Double) {
    band = SIMD3(0, 0, 0)
    low = SIMD3(0, 0, 0)
    sum = SIMD3(0, 0, 0)
    heard = 0
    count = 0
    self.time = time
  }

  /// Resets the filter, so that it averages again for the first time constant.
  @_noLocks
  mutating func restart() {
    band = SIMD3(0, 0, 0)
    low = SIMD3(0, 0, 0)
    sum = SIMD3(0, 0, 0)
    heard = 0
    count = 0
  }

  /// Filters the next value and returns the output.
  ///
  /// - Parameters:
  ///   - input: the next value.
  ///   - seconds: the time since the previous value.
  @_noLocks
  mutating func update(_ input: SIMD3<Double>, seconds: Double) -> SIMD3<Double> {
    if heard < time {
      sum += input
      count += 1
      heard += seconds
      low = sum * (1 / count)
      return low
    }
    let warp = Self.warp(seconds / (1.4142135623730951 * time))
    let scale = 1 / (1 + warp * (warp + 1.4142135623730951))
    let first = (band + (input - low) * warp) * scale
    let second = low + first * warp
    band = first * 2 - band
    low = second * 2 - low
    return second
  }

  /// Approximates tan(x) for small angles with its Taylor series. Angles above 1 count as 1,
  /// because a longer spacing practically resets the filter anyway.
  @_noLocks
  private static func warp(_ x: Double) -> Double {
    let angle = x < 1 ? x : 1
    let square = angle * angle
    return angle * (1 + square * (1.0 / 3 + square * (2.0 / 15 + square * (17.0 / 315))))
  }
}
