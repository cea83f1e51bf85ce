// SPDX-License-Identifier: Apache-2.0

import Ambisonics
import Binaural
import Glibc
import Playback
import TestSupport

func ambiX(_ order: Int) -> ChannelLayout {
  .ambisonics(order: order, convention: .ambiX, headLocked: false)
}

let surround51 = ChannelLayout.speakers([
  .frontLeft, .frontRight, .frontCenter, .lowFrequency, .sideLeft, .sideRight,
])

func noise(channels: Int, frames: Int, amplitude: Float = 0.2) -> PlanarSignal {
  var random = SeededGenerator(1)
  return PlanarSignal(channelCount: channels, frames: frames) { _, _ in
    Float.random(in: -amplitude...amplitude, using: &random)
  }
}

/// Random filters that all differ and decay.
func noiseFilters(order: Int, taps: Int = 300) -> BinauralFilters {
  let channels = SphericalHarmonics.channelCount(order: order)
  var random = SeededGenerator(2)
  func ear() -> [[Float]] {
    (0..<channels).map { _ in
      (0..<taps).map {
        0.3 * exp(-4 * Float($0) / Float(taps)) * Float.random(in: -1...1, using: &random)
      }
    }
  }
  return BinauralFilters(order: order, sampleRate: 48_000, left: ear(), right: ear())
}

/// Returns the energy of the difference relative to that of the truth, in dB, over both ears.
func residualDecibels(
  _ a: [[Float]], _ truth: [[Float]], where isIncluded: (Int) -> Bool = { _ in true }
) -> Double {
  var (error, energy) = (0.0, 0.0)
  for (a, b) in zip(a, truth) {
    for i in 0..<min(a.count, b.count) where isIncluded(i) {
      error += (Double(a[i]) - Double(b[i])) * (Double(a[i]) - Double(b[i]))
      energy += Double(b[i]) * Double(b[i])
    }
  }
  return 10 * log10(error / energy)
}

/// Returns the energy beyond 100 Hz from 1 kHz relative to the rest, in dB, over the last samples
/// whose number is a power of two.
func spuriousDecibels(_ samples: [Float]) -> Double {
  var size = 1
  while 2 * size <= samples.count { size *= 2 }
  let signal = ComplexSignal(size)
  for i in 0..<size {
    let angle = 2 * Double.pi * (Double(i) + 0.5) / Double(size)
    // Nuttall's window with continuous first derivative: sidelobes below -93 dB.
    let window =
      0.355768 - 0.487396 * cos(angle) + 0.144232 * cos(2 * angle) - 0.012604 * cos(3 * angle)
    signal.re[i] = Double(samples[samples.count - size + i]) * window
  }
  signal.transform(sign: -1)
  var (near, far) = (0.0, 0.0)
  for k in 0..<(size / 2) {
    let energy = signal.re[k] * signal.re[k] + signal.im[k] * signal.im[k]
    if abs(Double(k) * 48_000 / Double(size) - 1000) > 100 { far += energy } else { near += energy }
  }
  return 10 * log10(far / near)
}

func peak(_ samples: [Float]) -> Float { samples.reduce(0) { max($0, abs($1)) } }

func largestStep(_ samples: [Float]) -> Float {
  zip(samples, samples.dropFirst()).reduce(0) { max($0, abs($1.1 - $1.0)) }
}
