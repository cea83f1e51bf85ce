// SPDX-License-Identifier: Apache-2.0

/// A binaural sound: two ears x frames.
package struct EarSound: Sendable {
  package let left: [Float]
  package let right: [Float]

  package init(left: [Float], right: [Float]) {
    precondition(left.count == right.count)
    self.left = left
    self.right = right
  }

  /// Separates interleaved samples, frames x 2, into two ears.
  package init(interleaved samples: [Float]) {
    let frames = samples.count / 2
    left = (0..<frames).map { samples[2 * $0] }
    right = (0..<frames).map { samples[2 * $0 + 1] }
  }

  package var frames: Int { left.count }

  var channels: [[Float]] { [left, right] }

  static func + (a: EarSound, b: EarSound) -> EarSound {
    EarSound(
      left: zip(a.left, b.left).map { $0 + $1 }, right: zip(a.right, b.right).map { $0 + $1 })
  }

  func scaled(by gain: Float) -> EarSound {
    EarSound(left: left.map { gain * $0 }, right: right.map { gain * $0 })
  }

  /// Returns `count` frames from the frame position `start` on; the sound repeats forever. A
  /// windowed sinc of 32 taps interpolates between frames, unless `start` is within 0.001 of a
  /// whole number.
  func stretch(from start: Double, count: Int) -> EarSound {
    let nearest = start.rounded()
    let isWhole = abs(start - nearest) <= 1e-3
    let whole = isWhole ? nearest : start.rounded(.down)
    let kernel = isWhole ? nil : Self.kernel(start - whole)
    return EarSound(
      left: Self.stretch(left, Int(whole), count, kernel),
      right: Self.stretch(right, Int(whole), count, kernel))
  }

  private static let taps = 32

  /// Returns the interpolation kernel for a position between two frames.
  private static func kernel(_ fraction: Double) -> [Float] {
    (0..<taps).map { tap in
      let x = Double(tap - taps / 2 + 1) - fraction
      let window = 0.5 + 0.5 * cosine(2 * x / Double(taps + 1))
      return Float(sine(x) / (Double.pi * x) * window)
    }
  }

  private static func stretch(
    _ samples: [Float], _ start: Int, _ count: Int, _ kernel: [Float]?
  ) -> [Float] {
    let period = samples.count
    func index(_ i: Int) -> Int { ((i % period) + period) % period }
    guard let kernel else { return (0..<count).map { samples[index(start + $0)] } }
    let padded = (0..<count + taps).map { samples[index(start + $0 - taps / 2 + 1)] }
    return (0..<count).map { frame in
      var sum: Float = 0
      for tap in 0..<taps { sum += kernel[tap] * padded[frame + tap] }
      return sum
    }
  }

  /// Returns sin(pi x).
  private static func sine(_ x: Double) -> Double { HalfTurns.sine(x) }
  /// Returns cos(pi x).
  private static func cosine(_ x: Double) -> Double { HalfTurns.cosine(x) }
}
