// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A Kaiser-windowed sinc (Kaiser 1974), tabulated for resampling and fractional delays.
struct SincKernel {
  /// The number of input samples on each side of an output position that contribute to the output
  /// sample.
  let reach: Int

  private static let beta = 12.0
  private static let zeroCrossings = 32.0

  /// The number of tabulated phases per input sample. Linear interpolation between the phases has
  /// an error below (pi cutoff / phases)^2 / 8 of full scale.
  private let phases: Int
  /// The coefficients: (phases + 1) rows x 2 reach. A row contains the coefficients of the input
  /// samples, beginning with sample floor(position) - reach + 1.
  private let table: [Double]

  /// - Parameter cutoff: the cut-off frequency divided by the input's Nyquist frequency, at most 1.
  init(cutoff: Double) {
    let half = Self.zeroCrossings / cutoff
    let reach = Int(half.rounded(.up))
    let phases = max(32, Int((1024 * cutoff).rounded(.up)))
    let windowScale = 1 / besselI0(Self.beta)
    self.reach = reach
    self.phases = phases
    table = [Double](unsafeUninitializedCapacity: (phases + 1) * 2 * reach) { rows, count in
      for phase in 0...phases {
        let fraction = Double(phase) / Double(phases)
        for column in 0..<2 * reach {
          let u = fraction - Double(column - reach + 1)
          let edge = u / half
          let window =
            abs(edge) < 1 ? besselI0(Self.beta * (1 - edge * edge).squareRoot()) * windowScale : 0
          rows[phase * 2 * reach + column] = window * cutoff * sinc(cutoff * u)
        }
      }
      count = (phases + 1) * 2 * reach
    }
  }

  /// Samples the input, delayed by `delay` input samples, at the positions 0, step, 2 step, ... (in
  /// input samples). Scales the output by `step`, which preserves the transfer function.
  func resample(
    _ input: UnsafeBufferPointer<Float>, into output: UnsafeMutableBufferPointer<Float>,
    step: Double, delay: Double
  ) {
    table.withUnsafeBufferPointer { table in
      for index in output.indices {
        let position = Double(index) * step - delay
        let floor = position.rounded(.down)
        let row = (position - floor) * Double(phases)
        let phase = min(Int(row), phases - 1)
        let mix = row - Double(phase)
        let first = Int(floor) - reach + 1
        let lower = table.baseAddress! + phase * 2 * reach
        let upper = lower + 2 * reach
        var (a, b) = (0.0, 0.0)
        var column = max(0, -first)
        let end = min(2 * reach, input.count - first)
        while column < end {
          let sample = Double(input[first + column])
          a += sample * lower[column]
          b += sample * upper[column]
          column += 1
        }
        output[index] = Float((a + mix * (b - a)) * step)
      }
    }
  }
}

private func sinc(_ x: Double) -> Double {
  x == 0 ? 1 : sin(.pi * x) / (.pi * x)
}

/// Returns the modified Bessel function of the first kind and order zero.
func besselI0(_ x: Double) -> Double {
  let quarter = x * x / 4
  var (sum, term, k) = (1.0, 1.0, 1.0)
  while term > sum * 1e-17 {
    term *= quarter / (k * k)
    sum += term
    k += 1
  }
  return sum
}
