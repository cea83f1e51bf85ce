// SPDX-License-Identifier: Apache-2.0

internal import Rendering
import System

/// Noise with random access: random values at regular intervals, interpolated by cubics.
struct DemoNoise {
  let seed: UInt64

  /// Returns the random value with the number `point`, from -1 to 1. [SplitMix64: Steele, Lea,
  /// Flood, OOPSLA 2014]
  func value(_ point: Int) -> Float {
    let z = SeededGenerator.value(at: seed &+ UInt64(bitPattern: Int64(point)))
    return Float(Int64(z >> 40) - (1 << 23)) / Float(1 << 23)
  }

  /// Returns the noise at position `x`, which must be at least 0. The unit is the interval between
  /// two random values.
  func interpolated(at x: Double) -> Float {
    let point = Int(x)
    let (a, b, c, d) = Self.weights(Float(x - Double(point)))
    return (a * value(point) + b * value(point + 1))
      + (c * value(point + 2) + d * value(point + 3))
  }

  /// Returns the weights of four successive random values. `f` is the position between the middle
  /// two, from 0 to 1. [Cubic interpolation: Catmull and Rom, 1974]
  static func weights(_ f: Float) -> (Float, Float, Float, Float) {
    let (f2, f3) = (f * f, f * f * f)
    return (
      0.5 * (2 * f2 - f - f3), 1 + 0.5 * (3 * f3 - 5 * f2), 0.5 * (f + 4 * f2 - 3 * f3),
      0.5 * (f3 - f2)
    )
  }
}
