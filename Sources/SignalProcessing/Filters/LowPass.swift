// SPDX-License-Identifier: Apache-2.0

internal import CRealtime

/// A Linkwitz-Riley low-pass of fourth order: two Butterworth biquads in a row, in double
/// precision.
///
/// Coefficients by the bilinear transform with the corner prewarped (Zoelzer, DAFX, 2nd edition,
/// table 2.2), transposed direct form II.
public struct LowPass: ~Copyable, @unchecked Sendable {
  /// Frames after which the response to an impulse stays 80 dB below its peak.
  public let tailFrames: Int
  private let b0: Double
  private let a1: Double
  private let a2: Double
  private let state: UnsafeMutablePointer<Double>

  /// - Parameters:
  ///   - corner: Hz at which the response is -6 dB, below half the rate.
  ///   - sampleRate: Hz.
  public init(corner: Double, sampleRate: Double) {
    let angle = .pi * min(corner, 0.45 * sampleRate) / sampleRate
    let k = realtime_sin(angle) / realtime_cos(angle)
    let norm = 1 / (1 + k * 2.0.squareRoot() + k * k)
    b0 = k * k * norm
    a1 = 2 * (k * k - 1) * norm
    a2 = (1 - k * 2.0.squareRoot() + k * k) * norm
    // Double poles at 45 degrees: the response falls as x exp(-x), x growing by sqrt 2 angle a
    // frame.
    tailFrames = Int((13.2 / (angle * 2.0.squareRoot())).rounded(.up))
    state = .allocate(capacity: 4)
    state.initialize(repeating: 0, count: 4)
  }

  deinit { state.deallocate() }

  /// One sample in, one out.
  @_noLocks
  public func process(_ x: Float) -> Float {
    Float(section(section(Double(x), state), state + 2))
  }

  @_noLocks
  @inline(__always)
  private func section(_ x: Double, _ s: UnsafeMutablePointer<Double>) -> Double {
    let y = b0 * x + s[0]
    s[0] = 2 * b0 * x - a1 * y + s[1]
    s[1] = b0 * x - a2 * y
    return y
  }

  @_noLocks
  public func reset() { for i in 0..<4 { state[i] = 0 } }
}
