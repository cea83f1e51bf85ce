// SPDX-License-Identifier: Apache-2.0

import Foundation
import SignalProcessing
import TestSupport
import Testing

@testable import AudioMix

@Suite struct TuningGeneratorTests {
  /// Returns the tuning of a pulsating sound in front.
  private func tuning(
    level: Float, seconds: Int = 6, blockFrames: Int = 4800
  ) -> MixTuning {
    let generator = MixTuningGenerator(sampleRate: 48_000)
    let frames = seconds * 48_000
    var planes = [[Float]](repeating: [Float](repeating: 0, count: frames), count: 4)
    for i in 0..<frames {
      let time = Double(i) / 48_000
      let tones = sin(2 * .pi * 220 * time) + sin(2 * .pi * 700 * time) + sin(2 * .pi * 1800 * time)
      let voice = level * Float(tones * max(0, sin(2 * .pi * 3 * time)))
      planes[0][i] = voice
      planes[3][i] = voice
    }
    for start in stride(from: 0, to: frames, by: blockFrames) {
      var block = planes.map { Array($0[start..<min(frames, start + blockFrames)]) }
      let count = block[0].count
      withPlanes(&block) { generator.append($0, frames: count) }
    }
    return generator.tuning
  }

  @Test func quietSpeechIsRaisedAndLoudSpeechIsLowered() {
    let (quiet, loud) = (tuning(level: 0.01), tuning(level: 0.6))
    #expect(quiet.speech.gainDecibels > 3)
    #expect(loud.speech.gainDecibels < -3)
    #expect(MixTuning.gainRange.contains(quiet.speech.gainDecibels))
  }

  @Test func silenceAndShortSoundGetANeutralTuning() {
    #expect(tuning(level: 0).isNeutral)
    #expect(tuning(level: 0.1, seconds: 1).isNeutral)
    #expect(MixTuningGenerator(sampleRate: 48_000).tuning.isNeutral)
  }

  @Test func blockSizeDoesNotMatter() {
    #expect(tuning(level: 0.05, blockFrames: 777) == tuning(level: 0.05, blockFrames: 48_000))
  }

  /// Compares the histogram with the definition: the pieces above -60 dB that are at most 25 dB
  /// below the 95 % quantile.
  @Test(arguments: [0, 1, 20, 400]) func activePiecesAreThoseNearTheLoudOnes(count: Int) {
    var random = SeededGenerator(7)
    var energies = BandEnergies(sampleRate: 1000)
    var levels: [Double] = []
    for _ in 0..<count {
      let amplitude = pow(10, Double.random(in: -90...0, using: &random) / 20)
      var before = energies.all
      before.mean *= Double(before.count)
      for i in 0..<100 { energies.add(amplitude * sin(2 * .pi * 200 * Double(i) / 1000)) }
      levels.append((energies.all.mean * Double(energies.all.count) - before.mean).sum())
    }
    let sorted = levels.sorted()
    let loud = sorted.isEmpty ? 0 : sorted[sorted.count * 95 / 100]
    let active = levels.filter { $0 >= max(1e-6, loud * 0.00316) }
    // A piece within a tenth of a decibel of the limit may count or not.
    let near = levels.filter { abs(10 * log10($0 / max(1e-6, loud * 0.00316))) < 0.11 }.count
    #expect(abs(energies.active.count - active.count) <= near)
    let mean = active.isEmpty ? 0 : active.reduce(0, +) / Double(active.count)
    #expect(abs(energies.active.mean.sum() - mean) <= 0.02 * mean + 1e-6)
  }

  @Test func bandsSeparateTones() {
    for (band, frequency) in [50.0, 200, 900, 3500].enumerated() {
      var energies = BandEnergies(sampleRate: 48_000)
      for i in 0..<48_000 { energies.add(sin(2 * .pi * frequency * Double(i) / 48_000)) }
      let piece = energies.all.mean
      #expect((0..<4).max { piece[$0] < piece[$1] } == band)
      #expect(piece[band] > 0.35 && piece[band] < 0.55)
    }
  }
}
