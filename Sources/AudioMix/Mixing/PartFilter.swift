// SPDX-License-Identifier: Apache-2.0

internal import CRealtime
internal import SignalProcessing

/// Applies the tuning of the speech or of the ambience to several channels, sample by sample.
///
/// ## Threading
/// Use a filter from one thread at a time. `process` does not allocate, lock or wait.
struct PartFilter: ~Copyable, @unchecked Sendable {
  private let gain: Float
  private let sections: UnsafeMutablePointer<Biquad>
  private let count: Int
  private let channels: Int
  /// The state of the filters: two numbers for each filter of each channel.
  private let memory: UnsafeMutablePointer<Double>

  /// Prepares the filters of `part`, and omits those whose frequency is too high for the sample
  /// rate.
  init(_ part: MixTuning.Part, channels: Int, sampleRate: Double) {
    gain = Float(realtime_exp(part.gainDecibels * 0.11512925464970228))
    let biquads = part.equaliser.compactMap { $0.biquad(sampleRate: sampleRate) }
    (count, self.channels) = (biquads.count, channels)
    sections = .allocate(capacity: max(1, count))
    _ = UnsafeMutableBufferPointer(start: sections, count: count).initialize(from: biquads)
    memory = .allocate(capacity: max(1, 2 * count * channels))
    memory.initialize(repeating: 0, count: max(1, 2 * count * channels))
  }

  deinit {
    sections.deallocate()
    memory.deallocate()
  }

  @_noLocks
  func reset() {
    for i in 0..<2 * count * channels { memory[i] = 0 }
  }

  /// Applies the filters and the gain to the next sample of a channel. The sample must be finite.
  @_noLocks
  func process(_ sample: Float, _ channel: Int) -> Float {
    if count == 0 { return gain * sample }
    var x = Double(sample)
    for k in 0..<count {
      let section = sections[k]
      let state = memory + 2 * (channel * count + k)
      let y = section.b0 * x + state[0]
      state[0] = section.b1 * x - section.a1 * y + state[1]
      state[1] = section.b2 * x - section.a2 * y
      x = y
    }
    return gain * Float(x)
  }
}
