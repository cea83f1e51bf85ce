// SPDX-License-Identifier: Apache-2.0

private import CRealtime
internal import Rendering
internal import SignalProcessing

/// A plucked string: one period circulates in a delay line and gradually loses its treble. [Karplus
/// and Strong, Computer Music Journal 7(2), 1983; allpass filter: Jaffe and Smith, same issue]
final class DemoPluck: DemoNote {
  let onset: Int
  let frames: Int

  private let frequency: Double
  private let sampleRate: Double
  private let seed: UInt64
  private let amplitude: Float
  private let envelope: DemoEnvelope
  private let line: AlignedFloats
  /// The coefficient of the one-pole low-pass filter in the loop.
  private let damping: Float
  /// The linear gain of the loop.
  private let loss: Float
  /// The coefficient of the allpass filter in the loop.
  private let tuning: Float

  private var place = 0
  private var index = 0
  private var low: Float = 0
  private var tunedInput: Float = 0
  private var tunedOutput: Float = 0

  private static let decaySeconds = 6.0
  private static let cornerHertz = 14_000.0
  /// The plucking point, as a fraction of the string's length.
  private static let pluckPoint = 0.23

  /// Creates a note. `onset` is a frame of the scene, `frequency` is in Hz, and `amplitude` is
  /// linear.
  init(onset: Int, seconds: Double, frequency: Double, amplitude: Float, sampleRate: Double) {
    self.onset = onset
    self.frequency = frequency
    self.sampleRate = sampleRate
    self.amplitude = amplitude
    seed = UInt64(frequency * 1000)
    frames = Int(seconds * sampleRate)
    envelope = DemoEnvelope(
      frames: frames, rise: 0.002 * sampleRate, fall: 0.25 * seconds * sampleRate)
    let period = sampleRate / frequency
    let corner = min(Self.cornerHertz, 0.3 * sampleRate) / sampleRate
    let pole = realtime_exp(-2 * Double.pi * corner)
    let omega = 2 * Double.pi / period
    let filterDelay =
      realtime_atan2(pole * realtime_sin(omega), 1 - pole * realtime_cos(omega)) / omega
    let length = Int(period - filterDelay - 0.1)
    let rest = period - filterDelay - Double(length)
    line = AlignedFloats(count: length)
    damping = Float(1 - pole)
    loss = Float(realtime_exp(-6.9078 / (Self.decaySeconds * frequency)))
    tuning = Float((1 - rest) / (1 + rest))
  }

  func restart() {
    (place, index) = (0, 0)
    (low, tunedInput, tunedOutput) = (0, 0, 0)
    excite()
  }

  func add(to sum: UnsafeMutablePointer<Float>, _ count: Int) {
    let (samples, length) = (line.pointer, line.count)
    var (low, x1, y1, index) = (self.low, tunedInput, tunedOutput, index)
    let isShaping = envelope.isShaping(place..<place + count)
    var i = 0
    while i < count {
      let sound = samples[index]
      low += damping * (sound - low)
      let x = loss * low
      let y = tuning * x + x1 - tuning * y1
      (x1, y1) = (x, y)
      samples[index] = y
      index = index + 1 == length ? 0 : index + 1
      sum[i] += isShaping ? sound * amplitude * envelope.gain(at: place + i) : sound * amplitude
      i += 1
    }
    (self.low, tunedInput, tunedOutput, self.index) = (low, x1, y1, index)
    place += count
  }

  /// Fills the delay line with about one period of a plucked string: a sum of harmonics with random
  /// phases, scaled to a peak of 1.
  private func excite() {
    let (samples, length) = (line.pointer, line.count)
    let noise = DemoNoise(seed: seed)
    let step = 2 * Double.pi * frequency / sampleRate
    line.clear()
    for harmonic in 1...max(1, Int(min(9000, 0.42 * sampleRate) / frequency)) {
      let k = Double(harmonic)
      let level = realtime_sin(Double.pi * k * Self.pluckPoint) / k
      let phase = Double.pi * Double(noise.value(harmonic))
      var (s, c) = (level * realtime_sin(phase), level * realtime_cos(phase))
      let (turnS, turnC) = (realtime_sin(k * step), realtime_cos(k * step))
      for i in 0..<length {
        samples[i] += Float(s)
        (s, c) = (s * turnC + c * turnS, c * turnC - s * turnS)
      }
    }
    var peak: Float = 1e-9
    for i in 0..<length { peak = max(peak, abs(samples[i])) }
    for i in 0..<length { samples[i] /= peak }
  }
}
