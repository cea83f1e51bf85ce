// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Loudness

@Suite struct GainPlannerTests {
  private func level(_ gain: Float) -> Double { 20 * log10(Double(gain)) }

  /// For any goals and any durations, the gain changes by at most 1 dB/s and does not jump between
  /// calls.
  @Test func gainChangesAtMostOneDecibelPerSecond() {
    var random = SeededGenerator.forTest()
    for _ in 0..<200 {
      var planner = GainPlanner(gain: .random(in: -20...20, using: &random))
      _ = planner.advance(seconds: 0.01, isSilent: false)
      var last = planner.gain
      for _ in 0..<300 {
        if Bool.random(using: &random) { planner.aim(at: .random(in: -60...60, using: &random)) }
        let seconds = Double.random(in: 0.0001...0.2, using: &random)
        let step = planner.advance(seconds: seconds, isSilent: .random(using: &random))
        #expect(abs(level(step.start) - last) < 1e-4)
        #expect(abs(level(step.end) - level(step.start)) <= seconds * 1.0 + 1e-4)
        last = level(step.end)
      }
    }
  }

  @Test func gainReachesTheGoalAndStays() {
    var planner = GainPlanner(gain: 0)
    _ = planner.advance(seconds: 0.1, isSilent: false)
    planner.aim(at: -5)
    for _ in 0..<600 { _ = planner.advance(seconds: 0.01, isSilent: false) }
    #expect(planner.gain == -5)
    #expect(planner.advance(seconds: 1, isSilent: false).end == Float(pow(10, -0.25)))
  }

  /// Before the first sound, the gain is set immediately.
  @Test func gainJumpsOnlyBeforeTheFirstSound() {
    var planner = GainPlanner(gain: 0)
    _ = planner.advance(seconds: 3, isSilent: true)
    planner.aim(at: 12)
    #expect(planner.gain == 12)
    _ = planner.advance(seconds: 0.01, isSilent: false)
    planner.aim(at: 0)
    #expect(planner.gain == 12)
    // Silence in the middle does not permit a jump: the following sound would be audibly louder.
    _ = planner.advance(seconds: 0.01, isSilent: true)
    planner.aim(at: -3)
    #expect(planner.gain > 11.9)
  }

  @Test func nonFiniteGoalsAreIgnored() {
    var planner = GainPlanner(gain: 3)
    for wrong in [Double.nan, .infinity, -.infinity] { planner.aim(at: wrong) }
    #expect(planner.goal == 3)
  }
}

@Suite struct LoudnessTargetTests {
  private let target = LoudnessTarget(loudness: -16)

  @Test func gainIsTheDifferenceToTheTarget() {
    for loudness in stride(from: -34.0, through: 0, by: 3.7) {
      let knowledge = LoudnessKnowledge(origin: .scan, loudness: loudness)
      #expect(abs(target.gain(for: knowledge) - (-16 - loudness)) < 1e-9)
    }
  }

  /// Because of the gain, the limiter never has to reduce peaks by more than its share.
  @Test func truePeakLimitsTheGain() {
    var random = SeededGenerator.forTest()
    for _ in 0..<1000 {
      let knowledge = LoudnessKnowledge(
        origin: .scan, loudness: .random(in: -70...5, using: &random),
        truePeak: .random(in: -60...12, using: &random))
      let gain = target.gain(for: knowledge)
      #expect(gain <= 0 || gain + (knowledge.truePeak ?? 0) <= -1 + target.limiterShare + 1e-9)
      #expect((-40.0...20).contains(gain))
    }
    let click = LoudnessKnowledge(origin: .scan, loudness: -40, truePeak: 0)
    #expect(target.gain(for: click) == 5)
  }

  @Test func nonFiniteLoudnessGivesZeroGain() {
    for wrong in [Double.nan, .infinity, -.infinity] {
      #expect(target.gain(for: LoudnessKnowledge(origin: .scan, loudness: wrong)) == 0)
    }
  }
}

@Suite struct LoudnessEvidenceTests {
  private let measured = LoudnessMeasurement(ears: -20, source: -18, truePeak: -3)

  @Test func tagLoudnessIsConvertedFromSourceToEars() {
    var evidence = LoudnessEvidence()
    evidence.statement = .init(loudness: -25, needsAgreement: false)
    #expect(evidence.knowledge == LoudnessKnowledge(origin: .metadata, loudness: -25))
    evidence.scan = measured
    #expect(
      evidence.knowledge == LoudnessKnowledge(origin: .metadata, loudness: -27, truePeak: -3))
  }

  @Test func dialogueLevelCountsOnlyIfItAgreesWithTheScan() {
    var evidence = LoudnessEvidence()
    evidence.statement = .init(loudness: -31, needsAgreement: true)
    // Before a measurement, it must not increase the gain.
    #expect(evidence.knowledge.loudness == LoudnessEvidence.assumedLoudness)
    evidence.scan = measured
    #expect(evidence.knowledge == LoudnessKnowledge(origin: .scan, loudness: -20, truePeak: -3))
    evidence.statement?.loudness = -20.5
    #expect(evidence.knowledge.origin == .metadata)
    #expect(evidence.knowledge.loudness == -22.5)
  }

  @Test func scanTakesPrecedenceOverRunningMeasurement() {
    var evidence = LoudnessEvidence()
    #expect(evidence.knowledge.origin == .assumption)
    evidence.running = LoudnessMeasurement(ears: -9, source: nil, truePeak: nil)
    #expect(evidence.knowledge == LoudnessKnowledge(origin: .running, loudness: -9))
    evidence.scan = measured
    #expect(evidence.knowledge.origin == .scan)
  }

  @Test func tagsOfASoundfieldAreIgnored() {
    var evidence = LoudnessEvidence()
    evidence.statement = .init(loudness: -25, needsAgreement: false)
    evidence.scan = LoudnessMeasurement(ears: -20, source: nil, truePeak: nil)
    #expect(evidence.knowledge == LoudnessKnowledge(origin: .scan, loudness: -20))
  }
}
