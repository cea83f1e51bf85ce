// SPDX-License-Identifier: Apache-2.0

private import CRealtime
internal import Rendering

/// A struck bar or bell: the sum of decaying modes and the knock of the mallet.
final class DemoChime: DemoNote {
  struct Mode {
    /// The ratio of the mode's frequency to the note's frequency.
    let ratio: Double
    /// The initial amplitude of the mode, as a multiple of the note's amplitude.
    let level: Double
    /// The time in which the mode decays by 60 dB, in seconds.
    let decaySeconds: Double
  }

  struct Body {
    let modes: [Mode]
    /// The initial amplitude of the mallet's knock, as a multiple of the note's amplitude.
    let knock: Float
    /// The duration of the sound, in seconds.
    let seconds: Double
    let riseSeconds: Double
  }

  let onset: Int
  let frames: Int

  private let frequency: Double
  private let sampleRate: Double
  private let amplitude: Double
  private let body: Body
  private let envelope: DemoEnvelope
  private let noise: DemoNoise
  private let ringing: [Mode]
  private var modes: [Oscillation] = []
  private var place = 0

  private static let knockHertz = 14_000.0
  private static let knockDecaySeconds = 0.012

  private struct Oscillation {
    var s: Double
    var c: Double
    let turnS: Double
    let turnC: Double
  }

  init(onset: Int, frequency: Double, amplitude: Double, body: Body, sampleRate: Double) {
    self.onset = onset
    self.frequency = frequency
    self.sampleRate = sampleRate
    self.amplitude = amplitude
    self.body = body
    frames = Int(body.seconds * sampleRate)
    envelope = DemoEnvelope(
      frames: frames, rise: body.riseSeconds * sampleRate, fall: 0.3 * body.seconds * sampleRate)
    noise = DemoNoise(seed: UInt64(onset) &* 977 &+ UInt64(frequency))
    ringing = body.modes.filter { $0.ratio * frequency < 0.45 * sampleRate }
  }

  func restart() {
    place = 0
    modes = ringing.map { mode in
      let angle = 2 * Double.pi * mode.ratio * frequency / sampleRate
      let decay = realtime_exp(-6.9078 / (mode.decaySeconds * sampleRate))
      return Oscillation(
        s: 0, c: mode.level * amplitude, turnS: decay * realtime_sin(angle),
        turnC: decay * realtime_cos(angle))
    }
  }

  func add(to sum: UnsafeMutablePointer<Float>, _ count: Int) {
    let isShaping = envelope.isShaping(place..<place + count)
    for m in modes.indices {
      var (s, c) = (modes[m].s, modes[m].c)
      let (turnS, turnC) = (modes[m].turnS, modes[m].turnC)
      var i = 0
      while i < count {
        sum[i] += isShaping ? Float(s) * envelope.gain(at: place + i) : Float(s)
        (s, c) = (s * turnC + c * turnS, c * turnC - s * turnS)
        i += 1
      }
      (modes[m].s, modes[m].c) = (s, c)
    }
    addKnock(to: sum, count)
    place += count
  }

  private func addKnock(to sum: UnsafeMutablePointer<Float>, _ count: Int) {
    guard body.knock > 0 else { return }
    let end = Int(6 * Self.knockDecaySeconds * sampleRate)
    let level = body.knock * Float(amplitude)
    var i = 0
    while i < count && place + i < end {
      let seconds = Double(place + i) / sampleRate
      let decay = Float(realtime_exp(-6.9078 * seconds / Self.knockDecaySeconds))
      let knock = noise.interpolated(at: seconds * Self.knockHertz)
      sum[i] += level * decay * knock * envelope.gain(at: place + i)
      i += 1
    }
  }
}
