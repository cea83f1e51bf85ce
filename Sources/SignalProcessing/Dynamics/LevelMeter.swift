// SPDX-License-Identifier: Apache-2.0

internal import CRealtime
internal import Synchronization

/// Measures the peak and rms of two channels since the last reading.
///
/// ## Threading
/// One thread at a time may call `process`, which is lock-free. Any thread may call `read`.
public struct LevelMeter: ~Copyable, @unchecked Sendable {
  /// Linear levels with full scale 1.0, left then right.
  public struct Levels: Sendable, Equatable {
    public var peak: SIMD2<Float>
    public var rms: SIMD2<Float>

    public static let silence = Levels(peak: SIMD2(0, 0), rms: SIMD2(0, 0))
  }

  private let leftPeak = Atomic<UInt32>(0)
  private let rightPeak = Atomic<UInt32>(0)
  /// The sum of squares (Float, upper half) and the number of frames (lower half) in one word.
  private let leftEnergy = Atomic<UInt64>(0)
  private let rightEnergy = Atomic<UInt64>(0)

  public init() {}

  /// Adds the next `frames` samples of each channel to the measurement.
  @_noLocks
  public func process(
    _ left: UnsafePointer<Float>, _ right: UnsafePointer<Float>, frames: Int
  ) {
    guard frames > 0 else { return }
    let l = measure(left, frames)
    let r = measure(right, frames)
    // Non-negative numbers have the same order as their bit patterns.
    _ = leftPeak.max(l.peak.bitPattern, ordering: .relaxed)
    _ = rightPeak.max(r.peak.bitPattern, ordering: .relaxed)
    add(l.energy, frames, to: leftEnergy)
    add(r.energy, frames, to: rightEnergy)
  }

  /// Returns the levels since the last call and resets the meter.
  public func read() -> Levels {
    let peak = SIMD2(
      Float(bitPattern: leftPeak.exchange(0, ordering: .relaxed)),
      Float(bitPattern: rightPeak.exchange(0, ordering: .relaxed)))
    let rms = SIMD2(
      rms(leftEnergy.exchange(0, ordering: .relaxed)),
      rms(rightEnergy.exchange(0, ordering: .relaxed)))
    return Levels(peak: peak, rms: rms)
  }

  private func rms(_ packed: UInt64) -> Float {
    let frames = packed & 0xffff_ffff
    guard frames > 0 else { return 0 }
    return realtime_sqrtf(Float(bitPattern: UInt32(packed >> 32)) / Float(frames))
  }

  @_noLocks
  private func measure(
    _ samples: UnsafePointer<Float>, _ frames: Int
  ) -> (peak: Float, energy: Float) {
    // Eight parallel sums avoid waiting for the result of the previous addition.
    var (peaks, energies) = (Vector8(repeating: 0), Vector8(repeating: 0))
    var i = 0
    while i + 8 <= frames {
      let p = samples + i
      let x = Vector8(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7])
      let magnitudes = x.replacing(with: -x, where: x .< Vector8(repeating: 0))
      peaks.replace(with: magnitudes, where: magnitudes .> peaks)
      energies += x * x
      i += 8
    }
    var (peak, energy) = (peaks.max(), energies.sum())
    while i < frames {
      peak = max(peak, abs(samples[i]))
      energy += samples[i] * samples[i]
      i += 1
    }
    return (peak, energy)
  }

  /// Adds the energy and the number of the newest frames to `total`.
  @_noLocks
  private func add(_ energy: Float, _ frames: Int, to total: borrowing Atomic<UInt64>) {
    var old = total.load(ordering: .relaxed)
    while true {
      let count = (old & 0xffff_ffff) + UInt64(frames)
      // Restart the sum after 2^31 frames without a reading, which is 12 hours at 48 kHz.
      let begun = count < 1 << 31 ? Float(bitPattern: UInt32(old >> 32)) : 0
      let sum = begun + energy
      let new = UInt64(sum.bitPattern) << 32 | (count < 1 << 31 ? count : UInt64(frames))
      let result = total.weakCompareExchange(
        expected: old, desired: new, ordering: .relaxed)
      if result.exchanged { return }
      old = result.original
    }
  }
}
