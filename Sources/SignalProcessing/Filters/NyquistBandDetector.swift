// SPDX-License-Identifier: Apache-2.0

internal import CRealtime

/// Measures what lies within about 1/64 of the sampling rate of half the sampling rate.
///
/// A finite interpolation filter cannot know the waveform between the samples there (a sine at just
/// under half the rate hides between them for many periods), so that white noise is read too low
/// now and then. The limiter adds a share of this amplitude, held for a while, to its estimate.
/// Music has nothing in that band and is not touched.
struct NyquistBandDetector {
  static var frames: Int { @_noLocks get { 64 } }

  private let window: UnsafeMutablePointer<Float>
  /// No reading exceeds this factor times the largest sample.
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

  /// The amplitude in the band, as the rms of white noise of the same density at full bandwidth.
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
