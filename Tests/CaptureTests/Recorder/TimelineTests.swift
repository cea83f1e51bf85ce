// SPDX-License-Identifier: Apache-2.0

import System
import Testing

@testable import Capture

/// A timeline with a simulated source and a simulated time.
struct TimelineTests {
  @Test func soundWithoutLossPassesUnchanged() throws {
    var source = SimulatedSource(jitter: 0.008)
    source.begin()
    try source.play(20)
    try source.timeline.finish(at: source.now)
    #expect(source.output.frames == (1...source.sent).map { Float($0) })
    #expect(source.output.gaps.isEmpty)
  }

  @Test func lateSoundIsNoGap() throws {
    var source = SimulatedSource()
    source.begin()
    try source.play(5)
    try source.play(0.8, isLate: true)
    try source.play(3)
    try source.timeline.finish(at: source.now)
    #expect(source.output.frames == (1...source.sent).map { Float($0) })
    #expect(source.output.gaps.isEmpty)
  }

  @Test(arguments: [0.006, 0.03, 0.5, 2.0, 7.0]) func missingSoundBecomesSilence(_ gap: Double)
    throws
  {
    var source = SimulatedSource()
    source.begin()
    try source.play(4)
    let before = source.sent
    try source.wait(gap)
    try source.play(4)
    try source.timeline.finish(at: source.now)
    let output = source.output
    #expect(output.gaps.count == 1)
    #expect(output.gaps.first?.cause == .device)
    #expect(abs((output.gaps.first?.seconds ?? 0) - gap) < 0.003)
    #expect(abs(output.seconds - (8 + gap)) < 0.003)
    #expect(Array(output.frames[..<before]) == (1...before).map { Float($0) })
    #expect(output.heard == (1...source.sent).map { Float($0) })
  }

  /// A server that delivers its first cycle in advance has lost nothing.
  @Test(arguments: [0.01, 0.05, 0.09], [0.005, 0.016, 0.05])
  func anEarlyFirstCycleIsNoGap(_ early: Double, _ pause: Double) throws {
    var source = SimulatedSource(jitter: 0.001)
    source.begin()
    try source.play(early)
    try source.wait(pause)
    try source.play(5)
    try source.timeline.finish(at: source.now)
    #expect(source.output.gaps.isEmpty, "\(source.output.gaps)")
    #expect(source.output.frames == (1...source.sent).map { Float($0) })
  }

  /// Sound that is lost soon after the start is missing.
  @Test(arguments: [0.15, 0.25, 0.35]) func aLossSoonAfterTheStartIsAGap(_ start: Double) throws {
    var source = SimulatedSource(jitter: 0.001)
    source.begin()
    try source.play(start)
    try source.wait(0.03)
    try source.play(5)
    try source.timeline.finish(at: source.now)
    #expect(source.output.gaps.count == 1)
    #expect(abs(source.output.seconds - start - 5.03) < 0.003)
  }

  @Test func aLossIsOneGapWithItsCause() throws {
    var source = SimulatedSource()
    source.begin()
    try source.play(3)
    try source.timeline.lose(.inputLost)
    try source.wait(2)
    source.begin()
    try source.play(3)
    try source.timeline.lose(.serverLost)
    try source.timeline.lose(.inputLost)
    try source.wait(6)
    source.begin()
    try source.play(3)
    try source.timeline.finish(at: source.now)
    let output = source.output
    #expect(output.gaps.map(\.cause) == [.inputLost, .serverLost])
    #expect(abs(output.seconds - 17) < 0.02)
    #expect(output.heard.count == source.sent)
  }

  /// Sound that has not arrived when a recording is overdue is missing.
  @Test(arguments: [0.01, 0.5]) func anOverdueEndIsSilence(_ sinceSound: Double) throws {
    var source = SimulatedSource(jitter: 0)
    source.begin()
    try source.play(1)
    try source.wait(1)
    try source.play(0.1, isLate: true)
    try source.wait(sinceSound)
    try source.timeline.finish(at: source.now, isOverdue: true)
    #expect(abs(source.output.seconds - 2.1 - sinceSound) < 0.02, "\(source.output.seconds)")
    #expect(abs(source.output.gaps.reduce(0) { $0 + $1.seconds } - 1 - sinceSound) < 0.02)
  }

  /// A loss during which no frame was lost is no gap.
  @Test func nothingMissingIsNoGap() throws {
    var source = SimulatedSource(jitter: 0)
    source.begin()
    try source.play(3)
    try source.timeline.lose(.inputLost)
    source.begin()
    try source.play(3)
    try source.timeline.finish(at: source.now)
    #expect(source.output.gaps.isEmpty, "\(source.output.gaps)")
    #expect(source.output.heard.count == source.sent)
  }

  /// Sound that arrives after silence was written in its place is dropped; the silence is a gap.
  @Test func soundThatIsTooLateIsAGap() throws {
    var source = SimulatedSource(jitter: 0)
    source.begin()
    try source.play(3)
    try source.wait(6)
    try source.playStored(6)
    try source.play(3)
    try source.timeline.finish(at: source.now)
    let output = source.output
    let silence = Double(output.frames.count { $0 == 0 }) / output.rate
    #expect(silence > 4)
    #expect(abs(output.gaps.reduce(0) { $0 + $1.seconds } - silence) < 0.001, "\(output.gaps)")
    #expect(abs(output.seconds - 12) < 0.02)
  }

  @Test func aFrozenServerNamesItsGap() throws {
    var source = SimulatedSource()
    source.begin()
    try source.play(3)
    try source.wait(0.6)
    source.timeline.suspect(.serverFrozen)
    try source.wait(1.4)
    source.timeline.clearSuspicion(at: source.now)
    try source.play(3)
    try source.wait(2)
    try source.play(3)
    try source.timeline.finish(at: source.now)
    #expect(source.output.gaps.map(\.cause) == [.serverFrozen, .device])
    #expect(abs(source.output.seconds - 13) < 0.02)
  }

  /// The end of the first freeze must not end the suspicion of the second one.
  @Test func aServerThatFreezesTwiceWithinOneSecondNamesBothGaps() throws {
    var source = SimulatedSource()
    source.begin()
    try source.play(3)
    source.timeline.suspect(.serverFrozen)
    try source.wait(0.2)
    source.timeline.clearSuspicion(at: source.now)
    try source.play(0.1)
    source.timeline.suspect(.serverFrozen)
    try source.wait(2)
    try source.play(3)
    try source.timeline.finish(at: source.now)
    let causes = source.output.gaps.map(\.cause)
    #expect(!causes.isEmpty && causes.allSatisfy { $0 == .serverFrozen }, "\(causes)")
  }

  @Test func aLossThatLastsIsSilenceUntilTheEnd() throws {
    var source = SimulatedSource()
    source.begin()
    try source.play(3)
    try source.timeline.lose(.serverLost)
    try source.wait(5)
    #expect(source.output.seconds > 7.3)
    try source.timeline.finish(at: source.now)
    #expect(source.output.gaps.count == 1)
    #expect(abs(source.output.seconds - 8) < 0.02)
  }

  @Test func aPauseIsLeftOut() throws {
    var source = SimulatedSource()
    source.begin()
    try source.play(3)
    let before = source.sent
    try source.timeline.pause()
    try source.play(5)
    let after = source.sent
    source.timeline.resume(at: source.now)
    try source.play(3)
    try source.timeline.finish(at: source.now)
    #expect(source.output.gaps.isEmpty)
    let kept = Array(1...before) + Array(after + 1...source.sent)
    #expect(source.output.frames == kept.map(Float.init))
  }

  /// If the source stalls right after a pause, the sound that it delivers then is kept.
  @Test(arguments: [0.5, 6.0]) func aStallAfterAPauseIsAGap(_ stall: Double) throws {
    var source = SimulatedSource(jitter: 0.001)
    source.begin()
    try source.play(3)
    let before = source.sent
    try source.timeline.pause()
    try source.play(2)
    let after = source.sent
    source.timeline.resume(at: source.now)
    try source.wait(stall)
    try source.play(5)
    try source.timeline.finish(at: source.now)
    let kept = Array(1...before) + Array(after + 1...source.sent)
    #expect(source.output.heard == kept.map(Float.init))
  }

  @Test func aHoleIsSilence() throws {
    var source = SimulatedSource()
    source.begin()
    try source.play(3)
    try source.wait(0.1)
    try source.timeline.addHole(frames: 4800, cause: .dropped, at: source.now)
    try source.play(3)
    try source.timeline.finish(at: source.now)
    #expect(source.output.gaps.map(\.cause) == [.dropped])
    #expect(abs(source.output.seconds - 6.1) < 1e-9)
  }

  @Test(arguments: [-200.0, 0, 200]) func driftIsMeasured(_ drift: Double) throws {
    var source = SimulatedSource(driftPartsPerMillion: drift, jitter: 0.012, seed: 7)
    source.begin()
    try source.play(600)
    let measured = try #require(source.timeline.drift.partsPerMillion)
    try source.timeline.finish(at: source.now)
    #expect(abs(measured - drift) < 2)
    #expect(source.output.gaps.isEmpty)
    #expect(source.output.frames.count == source.sent)
  }

  @Test func gapsDoNotDisturbTheDrift() throws {
    var source = SimulatedSource(driftPartsPerMillion: 150, seed: 3)
    source.begin()
    for _ in 0..<10 {
      try source.play(40)
      try source.wait(0.3)
    }
    let measured = try #require(source.timeline.drift.partsPerMillion)
    #expect(abs(measured - 150) < 15)
    #expect(source.output.gaps.count == 9)
  }

  /// Any sequence of faults keeps the time and every frame that arrived.
  @Test(arguments: 1...20) func theLengthEqualsTheTime(_ seed: Int) throws {
    var random = SeededGenerator(UInt64(seed))
    var source = SimulatedSource(jitter: 0.005, seed: UInt64(seed))
    let start = source.now
    source.begin()
    try source.play(3)
    var faults = 0
    for _ in 0..<8 {
      let length = Double.random(in: 0.05...6, using: &random)
      switch Int.random(in: 0..<3, using: &random) {
      case 0: try source.wait(length)
      case 1:
        try source.timeline.lose(.inputLost)
        try source.wait(length)
        source.begin()
      default:
        try source.play(min(length, 3), isLate: true)
        faults -= 1
      }
      faults += 1
      try source.play(Double.random(in: 1...5, using: &random))
    }
    try source.timeline.finish(at: source.now)
    #expect(abs(source.output.seconds - (source.now - start)) < 0.02)
    #expect(source.output.gaps.count == faults, "\(source.output.gaps)")
    #expect(source.output.heard.count == source.sent)
  }
}
