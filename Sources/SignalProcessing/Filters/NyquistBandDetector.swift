// SPDX-License-Identifier: Apache-2.0

internal import CRealtime

/// Measures the signal in the band from about 31/64 to 1/2 of the sample rate.
///
/// A finite interpolation filter can underestimate peaks in this band, because the peaks of a sine
/// just below half the sample rate lie between the samples for many periods.
struct NyquistBandDetector {
  static var frames: Int { @_noLocks get { 64 } }

  private let window: UnsafeMutablePointer<Float>
  /// An upper bound on the result of `amplitude`, as a multiple of the largest sample magnitude.
  let worstCaseGain: Float

  init() {
    window = .allocate(capacity: Self.frames)
    var energy = 0.0
    var sum = 0.0
    for i in 0..<Self.frames {
      let w = Self.hann(i)
      energy += w * w
      sum += w
    }
    let scale = 1 / realtime_sqrt(energy)
    for i in 0..<Self.frames {
      let sign = i.isMultiple(of: 2) ? 1.0 : -1.0
      (window + i).initialize(to: Float(Self.hann(i) * scale * sign))
    }
    worstCaseGain = Float(sum * scale) * 1.0001
  }

  func deallocate() {
    window.deallocate()
  }

  private static func hann(_ i: Int) -> Double {
    0.5 - 0.5 * realtime_cos(2 * .pi * (Double(i) + 0.5) / Double(frames))
  }

  /// Measures the level in the band over 64 samples. Returns the rms that white noise over the full
  /// bandwidth would have if its spectral density were the same as in this band.
  @_noLocks
  func amplitude(_ samples: UnsafePointer<Float>) -> Float {
    let values = UnsafeRawPointer(samples)
    let weights = UnsafeRawPointer(window)
    var sum = SIMD8<Float>(repeating: 0)
    for i in stride(from: 0, to: Self.frames, by: 8) {
      let offset = i * MemoryLayout<Float>.stride
      let x = values.loadUnaligned(fromByteOffset: offset, as: SIMD8<Float>.self)
      let w = weights.loadUnaligned(fromByteOffset: offset, as: SIMD8<Float>.self)
      sum += x * w
    }
    return abs(sum.sum())
  }
}
