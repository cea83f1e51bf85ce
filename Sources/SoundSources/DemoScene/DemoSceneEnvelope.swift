// SPDX-License-Identifier: Apache-2.0

internal import Rendering

/// A gain that rises smoothly from 0 to 1, stays at 1 and falls smoothly to 0.
struct DemoEnvelope {
  let frames: Int
  /// The duration of the rise, in frames.
  let rise: Double
  /// The duration of the fall, in frames.
  let fall: Double

  /// Returns whether the gain differs from 1 anywhere in a range of frames.
  func isShaping(_ range: Range<Int>) -> Bool {
    Double(range.lowerBound) < rise || Double(range.upperBound) > Double(frames) - fall
  }

  func gain(at frame: Int) -> Float {
    let start = Double(frame) / rise
    let end = Double(frames - 1 - frame) / fall
    let x = max(0, min(1, start, end))
    return Float(x * x * (3 - 2 * x))
  }
}
