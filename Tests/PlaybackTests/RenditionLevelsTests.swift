// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Playback
@testable import Rendering
@testable import SoundSources

/// The levels of renditions, estimated from comparisons of their loudness.
@Suite struct RenditionLevelsTests {
  private func decibels(_ power: Double) -> Double { 10 * log10(power) }

  /// A programme whose stereo version is quieter by `softer` dB and lacks the effects.
  private func loudness(programme: Double, effects: Double) -> HeardLoudness {
    HeardLoudness(whole: decibels(programme + effects), mains: decibels(programme))
  }

  private func stereo(programme: Double, softer: Double) -> HeardLoudness {
    let loudness = decibels(programme) - softer
    return HeardLoudness(whole: loudness, mains: loudness)
  }

  /// The effects stay as they were and the programme changes: the level is right immediately,
  /// whichever rendition played first and at whatever level.
  @Test func stereoGainCompensatesTheMissingLFE() throws {
    var random = SeededGenerator(5)
    for _ in 0..<500 {
      func power() -> Double { pow(10, Double.random(in: -4...0, using: &random)) }
      let softer = Double.random(in: -6...6, using: &random)
      let (stereoRendition, other) = Bool.random(using: &random) ? (0, 1) : (1, 0)
      var levels = RenditionLevels()
      let hasStereoBegun = Bool.random(using: &random)
      levels.hears(hasStereoBegun ? stereoRendition : other)
      let effects = power() / 10
      for _ in 0..<3 {
        let programme = power()
        levels.compare(
          stereoRendition, stereo(programme: programme, softer: softer), with: other,
          loudness(programme: programme, effects: effects), at: 0)
      }
      let (before, after, level) = (power(), power(), Double.random(in: -5...5, using: &random))
      let gain = pow(10, level / 10)
      let found = levels.decibels(
        of: stereoRendition, coming: stereo(programme: after, softer: softer), after: other,
        past: loudness(programme: gain * before, effects: gain * effects), at: level)
      let exact = softer + level + decibels((after + effects) / after)
      let usual = levels.carried(to: stereoRendition, from: other, at: level)
      #expect(abs(try #require(found) - min(20, usual + 3, max(-20, exact))) < 1e-9)
    }
  }

  /// Loud low-frequency effects before quiet speech must not make the speech loud.
  @Test func loudLFEBurstRaisesStereoByAtMost3Decibels() throws {
    var levels = RenditionLevels()
    levels.hears(1)
    levels.compare(
      0, stereo(programme: 0.1, softer: 2), with: 1, loudness(programme: 0.1, effects: 0.01), at: 0)
    let found = levels.decibels(
      of: 0, coming: stereo(programme: 1e-5, softer: 2), after: 1,
      past: loudness(programme: 0.1, effects: 1), at: 0)
    #expect(abs(try #require(found) - (levels.decibels(of: 0) + 3)) < 1e-9)
  }

  @Test func levelIsUnknownBeforeTheFirstComparison() {
    var levels = RenditionLevels()
    levels.hears(1)
    let sound = loudness(programme: 0.1, effects: 0.1)
    #expect(levels.decibels(of: 0, coming: sound, after: 1, past: sound, at: 0) == nil)
    #expect(levels.decibels(of: 0) == 0)
    // Effects alone reveal nothing about the rest.
    let silence = HeardLoudness(whole: -20, mains: -.infinity)
    levels.compare(0, sound, with: 1, silence, at: 0)
    #expect(levels.decibels(of: 0, coming: sound, after: 1, past: sound, at: 0) == nil)
    levels.compare(0, sound, with: 1, sound, at: 3)
    let found = levels.decibels(of: 0, coming: sound, after: 1, past: sound, at: 0)
    #expect(abs((found ?? 9) + 3) < 2.5)
  }

  @Test func levelWithoutLFEIsTheMeanOfTheComparisons() throws {
    var levels = RenditionLevels()
    levels.hears(1)
    for softer in [2.0, 3, 4] {
      levels.compare(
        0, stereo(programme: 0.1, softer: softer), with: 1, loudness(programme: 0.1, effects: 0),
        at: 0)
    }
    let found = levels.decibels(
      of: 0, coming: stereo(programme: 0.5, softer: 3.3), after: 1,
      past: loudness(programme: 0.01, effects: 0), at: 0)
    #expect(abs(try #require(found) - 3) < 1e-9)
    #expect(abs(levels.decibels(of: 0) - 3) < 1e-9)
  }

  /// The level stays constant while the listener remembers the change, and then moves smoothly, for
  /// any read size.
  @Test(arguments: [1, 480, 900, 200_000]) func levelHoldsThenReturnsSlowlyToZero(frames: Int) {
    var level = RenditionLevel(at: 0)
    level.begin(at: 3, seconds: 2)
    let rate = 1_000
    var heard: [Float] = []
    while heard.count < 30 * rate {
      var piece = [Float](repeating: 1, count: frames)
      piece.withUnsafeMutableBufferPointer { buffer in
        var plane = buffer.baseAddress!
        level.apply(to: &plane, channels: 1, frames: frames, sampleRate: rate)
      }
      heard += piece
    }
    let decibels = heard.map { 20 * log10(Double($0)) }
    guard frames < 5_000 else { return #expect(decibels.last! == 0) }
    #expect(decibels[..<rate].allSatisfy { abs($0 - 3) < 1e-5 })
    #expect(abs(decibels[10 * rate] - (3 - 0.15 * 8)) < 0.15 * Double(frames) / Double(rate) + 0.01)
    #expect(abs(decibels[25 * rate]) < 1e-5)
    let steps = zip(decibels, decibels.dropFirst()).map { abs($0 - $1) }
    #expect(steps.allSatisfy { $0 < 0.16 / Double(rate) })
  }
}
