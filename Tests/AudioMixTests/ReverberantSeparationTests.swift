// SPDX-License-Identifier: Apache-2.0

import CRealtime
import TestSupport
import Testing

@testable import AudioMix

/// Talkers whose reverberation is much louder than the direct sound.
@Suite struct ReverberantSeparationTests {
  @Test func reverberantTalkerIsKept() {
    var random = SeededGenerator(7)
    var gains: [Float] = []
    for azimuth in [-70.0, 15, 120] {
      let room = ReverberantVoice(azimuth: azimuth, using: &random)
      let present = room.ratio(SeparationSettings())
      var former = SeparationSettings()
      former.hiddenGain = 0
      gains.append(present - room.ratio(former))
    }
    #expect(gains.reduce(0, +) / 3 > 0.1, "\(gains)")
    #expect(gains.allSatisfy { $0 > 0 }, "\(gains)")
  }
}

/// A voice as direct sound, early reflections and a tail of 0.45 s reverberation time.
private struct ReverberantVoice {
  var field = [[Float]](repeating: [], count: 4)
  /// The direct sound and the reflections of the first 50 ms in W.
  let target: [Float]

  init(azimuth: Double, using random: inout SeededGenerator) {
    let frames = 240_000
    let voice = syntheticVoice(frames: frames, sampleRate: 48000)
    field = planeWave(voice, azimuth: azimuth)
    var early = voice
    for _ in 0..<300 {
      let seconds = Double.random(in: 0.004...0.35, using: &random)
      let decay = realtime_exp(-3 * 2.302_585 * seconds / 0.45) * 0.5
      let gain = Float(Bool.random(using: &random) ? decay : -decay)
      let wave = planeWave([gain], azimuth: Double.random(in: -180...180, using: &random))
      let rise = Float.random(in: -1...1, using: &random)
      let level = (1 - rise * rise).squareRoot()
      let gains = [gain, wave[1][0] * level, gain * rise, wave[3][0] * level]
      let delay = Int(seconds * 48000)
      for frame in delay..<frames {
        for c in 0..<4 { field[c][frame] += voice[frame - delay] * gains[c] }
        if seconds < 0.05 { early[frame] += voice[frame - delay] * gain }
      }
    }
    field = sum(field, diffuseNoise(frames: frames, level: 0.02))
    target = early
  }

  /// The scale-invariant ratio of the target to the errors of the image, in dB.
  func ratio(_ settings: SeparationSettings) -> Float {
    var separator = SpatialSeparator(sampleRate: 48000, fieldOfView: 1, settings: settings)
    let image = separate(field, with: &separator).image[0]
    let delay = separator.latencyFrames
    let range = 48000..<(target.count - delay)
    var (product, power): (Float, Float) = (0, 0)
    for i in range {
      product += image[i + delay] * target[i]
      power += target[i] * target[i]
    }
    var error: Float = 0
    for i in range {
      let difference = image[i + delay] - product / power * target[i]
      error += difference * difference
    }
    return decibels(product * product / power / error)
  }
}
