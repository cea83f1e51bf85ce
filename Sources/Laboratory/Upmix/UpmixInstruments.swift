// SPDX-License-Identifier: Apache-2.0

import Glibc
import System

/// Synthesised sounds at 48 kHz, identical in every run.
package struct UpmixInstruments {
  package static let rate = 48_000.0
  let frames: Int
  private var random: SeededGenerator

  init(frames: Int, seed: UInt64) {
    self.frames = frames
    random = SeededGenerator(seed)
  }

  var seconds: Double { Double(frames) / Self.rate }

  /// Returns a random number in 0..<1.
  mutating func uniform() -> Double { random.uniform() }

  mutating func noise(_ count: Int) -> [Double] { (0..<count).map { _ in random.gaussian() } }

  /// Returns noise whose spectrum falls above `low`, levels off, and falls again above `high`.
  /// Frequencies are in Hz. The linear gain of the flat part, relative to the lowest frequencies,
  /// is about `bright` times the square root of `low / high`.
  mutating func darkNoise(from low: Double, to high: Double, bright: Double) -> [Double] {
    let x = noise(frames)
    let dark = onePole(x, corner: low)
    let level = bright * (low / high).squareRoot()
    return normalized(onePole(zip(dark, x).map { $0 + level * $1 }, corner: high))
  }

  /// Returns a voice with formants, hisses and pauses between phrases. `pitch` is in Hz; `pause` is
  /// the mean pause, in seconds.
  mutating func voice(pitch: Double, pause: Double) -> [Double] {
    let vowels = [
      (730.0, 1090.0, 2440.0), (270, 2290, 3010), (570, 840, 2410), (530, 1840, 2480),
      (300, 870, 2240), (660, 1720, 2410), (490, 1350, 1690),
    ]
    var sound = [Double](repeating: 0, count: frames)
    var (at, phase) = (0, 0.0)
    while at < frames {
      let end = at + Int((1.2 + 1.6 * uniform()) * Self.rate)
      while at < min(end, frames) {
        let isHiss = uniform() < 0.3
        let length = min(frames - at, Int((isHiss ? 0.08 : 0.09 + 0.14 * uniform()) * Self.rate))
        var syllable: [Double]
        if isHiss {
          let hiss = noise(length)
          syllable = zip(onePole(hiss, corner: 9000), onePole(hiss, corner: 3000)).map { $0 - $1 }
        } else {
          let start = pitch * (0.85 + 0.3 * uniform())
          let glide = 0.1 * (uniform() - 0.5)
          syllable = [Double](repeating: 0, count: length)
          for i in 0..<length {
            phase += start * (1 + glide * Double(i) / Double(length)) / Self.rate
            if phase >= 1 {
              phase -= 1
              syllable[i] = 1
            }
          }
          syllable = zip(syllable, noise(length)).map { $0 + 0.01 * $1 }
          syllable = onePole(syllable, corner: 300)
          let vowel = vowels[Int(uniform() * Double(vowels.count))]
          for (formant, width) in [(vowel.0, 70.0), (vowel.1, 100), (vowel.2, 140)] {
            syllable = resonate(syllable, formant, width)
          }
        }
        let loudness = (isHiss ? 0.3 : 0.5 + uniform())
        let level = loudness / max(1e-9, rms(syllable))
        for i in 0..<length {
          let t = Double(i) / Double(length)
          sound[at + i] += level * syllable[i] * min(1, t / 0.15, (1 - t) / 0.25)
        }
        at += length
      }
      at += Int(pause * (0.5 + uniform()) * Self.rate)
    }
    return normalized(sound)
  }

  /// Returns a sound with a plucked note every `period` seconds. Each note has a random pitch from
  /// `pitches`, in Hz.
  mutating func plucks(
    every period: Double, from start: Double, pitches: ClosedRange<Double>, decay: Double,
    partials: Int
  ) -> [Double] {
    var sound = [Double](repeating: 0, count: frames)
    for time in stride(from: start, to: seconds, by: period) {
      let pitch = pitches.lowerBound * pow(pitches.upperBound / pitches.lowerBound, uniform())
      let first = Int(time * Self.rate)
      for partial in 1...partials {
        let turn = 2 * Double.pi * uniform()
        let number = Double(partial)
        let speed = 2 * Double.pi * pitch * number
        let (fall, level) = (decay * (1 + 0.2 * number), pow(number, -0.9))
        for i in 0..<min(frames - first, Int(6 / decay * Self.rate)) {
          let t = Double(i) / Self.rate
          let envelope = exp(-fall * t) * min(1, t / 0.003)
          sound[first + i] += level * envelope * sin(speed * t + turn)
        }
      }
    }
    return normalized(sound)
  }

  /// Returns a bowed tone with vibrato. The tone glides between 3 semitones below and 11 semitones
  /// above `pitch`, which is in Hz.
  mutating func bow(around pitch: Double) -> [Double] {
    let step = 1.1
    let steps = (0...(Int(seconds / step) + 2)).map { _ in 14 * uniform() - 3 }
    let hiss = noise(frames)
    var (phase, sound) = (0.0, [Double](repeating: 0, count: frames))
    for i in 0..<frames {
      let t = Double(i) / Self.rate
      let (n, part) = (Int(t / step), (t / step).truncatingRemainder(dividingBy: 1))
      let semitones = steps[n] * (1 - part) + steps[n + 1] * part
      let vibrato = 1 + 0.01 * sin(2 * .pi * 5.5 * t)
      phase += pitch * pow(2, semitones / 12) * vibrato / Self.rate
      var tone = 0.02 * hiss[i]
      for k in 1...24 { tone += sin(2 * .pi * Double(k) * phase) / Double(k) }
      sound[i] = tone * min(1, part * step / 0.08, (1 - part) * step / 0.12)
    }
    return normalized(sound)
  }

  /// Returns a sound with a short beat every `period` seconds. The beat is noise above `corner` Hz,
  /// or a tone with falling pitch if `corner` is nil.
  mutating func beats(every period: Double, from start: Double, above corner: Double?) -> [Double] {
    var sound = [Double](repeating: 0, count: frames)
    for time in stride(from: start, to: seconds, by: period) {
      let first = Int(time * Self.rate)
      let length = min(frames - first, 9600)
      let hiss = corner == nil ? [] : noise(length)
      for i in 0..<length {
        let t = Double(i) / Self.rate
        if corner == nil {
          let cycles = 50 * t + 4 * (1 - exp(-30 * t))
          sound[first + i] += sin(2 * Double.pi * cycles) * exp(-18 * t)
        } else {
          sound[first + i] += hiss[i] * exp(-60 * t)
        }
      }
    }
    guard let corner else { return normalized(sound) }
    return normalized(zip(sound, onePole(sound, corner: corner)).map { $0 - $1 })
  }

  /// Returns the left and the right reverberation of a sound. The reverberation begins after 30 ms
  /// and decays by 60 dB in `seconds` seconds.
  mutating func reverb(_ sound: [Double], seconds: Double, corner: Double) -> [[Double]] {
    var size = 1
    let length = Int((seconds + 0.03) * Self.rate)
    while size < frames + length { size *= 2 }
    let fft = DoubleFFT(size: size)
    var (h, k) = ([Double](repeating: 0, count: size), [Double](repeating: 0, count: size))
    let tails = [0, 1].map { _ in onePole(noise(length), corner: corner) }
    for i in Int(0.03 * Self.rate)..<length {
      let fade = pow(10, -3 * (Double(i) / Self.rate - 0.03) / seconds)
      (h[i], k[i]) = (tails[0][i] * fade, tails[1][i] * fade)
    }
    var x = sound + [Double](repeating: 0, count: size - frames)
    var y = [Double](repeating: 0, count: size)
    fft.transform(&x, &y)
    fft.transform(&h, &k)
    // The sound is real and the two tails form one complex response, so one product convolves the
    // sound with both tails. Swapping the real and imaginary parts makes the forward transform an
    // inverse one.
    for i in 0..<size { (x[i], y[i]) = (x[i] * k[i] + y[i] * h[i], x[i] * h[i] - y[i] * k[i]) }
    fft.transform(&x, &y)
    return [Array(y.prefix(frames)), Array(x.prefix(frames))]
  }

  // MARK: Filters

  func onePole(_ x: [Double], corner: Double) -> [Double] {
    let gain = 1 - exp(-2 * .pi * corner / Self.rate)
    var state = 0.0
    return x.map {
      state += gain * ($0 - state)
      return state
    }
  }

  private func resonate(_ x: [Double], _ frequency: Double, _ width: Double) -> [Double] {
    let radius = exp(-.pi * width / Self.rate)
    let (a1, a2) = (-2 * radius * cos(2 * .pi * frequency / Self.rate), radius * radius)
    var (before, last) = (0.0, 0.0)
    return x.map {
      let next = (1 + a1 + a2) * $0 - a1 * last - a2 * before
      (before, last) = (last, next)
      return next
    }
  }

  func rms(_ x: [Double]) -> Double {
    (x.reduce(0) { $0 + $1 * $1 } / Double(max(1, x.count))).squareRoot()
  }

  func normalized(_ x: [Double]) -> [Double] {
    let level = max(1e-12, rms(x))
    return x.map { $0 / level }
  }
}
