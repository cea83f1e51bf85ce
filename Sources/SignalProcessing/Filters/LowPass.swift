// SPDX-License-Identifier: Apache-2.0

internal import CRealtime

/// A fourth-order Linkwitz-Riley low-pass filter in double precision.
///
/// It consists of two Butterworth biquads (Zoelzer, DAFX, 2nd edition, table 2.2).
public struct LowPass: ~Copyable, @unchecked Sendable {
  /// The number of frames after which the impulse response stays at least 80 dB below its peak. It
  /// is calculated on the assumption that the corner frequency is far below the sample rate.
  public let tailFrames: Int
  private let b0: Double
  private let a1: Double
  private let a2: Double
  private let state: UnsafeMutablePointer<Double>

  /// - Parameters:
  ///   - corner: the frequency at which the gain is -6 dB, in Hz; limited to 0.45 times the sample
  ///     rate.
  ///   - sampleRate: the sample rate in Hz.
  public init(corner: Double, sampleRate: Double) {
    let angle = .pi * min(corner, 0.45 * sampleRate) / sampleRate
    let k = realtime_sin(angle) / realtime_cos(angle)
    let norm = 1 / (1 + k * 2.0.squareRoot() + k * k)
    b0 = k * k * norm
    a1 = 2 * (k * k - 1) * norm
    a2 = (1 - k * 2.0.squareRoot() + k * k) * norm
    // The double poles of the analogue filter are at 45 degrees to the real axis, so the response
    // decays as x exp(-x), where x = sqrt(2) * angle * n at frame n.
    tailFrames = Int((13.2 / (angle * 2.0.squareRoot())).rounded(.up))
    state = .allocate(capacity: 4)
    state.initialize(repeating: 0, count: 4)
  }

  deinit { state.deallocate() }

  /// Filters one sample.
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
