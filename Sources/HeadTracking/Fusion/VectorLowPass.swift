// SPDX-License-Identifier: Apache-2.0

/// A second-order Butterworth low-pass filter for vectors. The samples may have any spacing.
///
/// The filter has the trapezoidal state-variable form (A. Simper, "Linear trapezoidal integrated
/// SVF", 2013; V. Zavalishin, "The Art of VA Filter Design", ch. 4). During the first time
/// constant after the start, the output is the mean of the input so far (arXiv 2203.17024, section
/// 3.4).
struct VectorLowPass: Sendable {
  private var band: SIMD3<Double>
  private var low: SIMD3<Double>
  private var sum: SIMD3<Double>
  /// Seconds of input since the start, counted up to `time`.
  private var heard: Double
  private var count: Double
  private let time: Double

  /// Creates a filter with a time constant in seconds. The cutoff frequency in Hz is
  /// `sqrt(2) / (2 * pi * time)`.
  @_noLocks
  init(time: Double) {
    band = SIMD3(0, 0, 0)
    low = SIMD3(0, 0, 0)
    sum = SIMD3(0, 0, 0)
    heard = 0
    count = 0
    self.time = time
  }

  @_noLocks
  mutating func restart() {
    band = SIMD3(0, 0, 0)
    low = SIMD3(0, 0, 0)
    sum = SIMD3(0, 0, 0)
    heard = 0
    count = 0
  }

  /// Filters the next value. `seconds` is the time since the previous value.
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

  /// Approximates tan(x) with its Taylor series. Angles above 1 count as 1.
  @_noLocks
  private static func warp(_ x: Double) -> Double {
    let angle = x < 1 ? x : 1
    let square = angle * angle
    return angle * (1 + square * (1.0 / 3 + square * (2.0 / 15 + square * (17.0 / 315))))
  }
}
