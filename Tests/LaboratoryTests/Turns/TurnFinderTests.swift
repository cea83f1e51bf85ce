// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Laboratory

/// Tests the finder with recordings in which the instant of the turn is known.
@Suite struct TurnFinderTests {
  enum Signal: String, CaseIterable {
    case noise, tone, music
  }

  private static let rate = 48_000.0
  private static let period = 96_000

  /// Returns two renderings that differ in level and delay at both ears, like two directions.
  private func pair(_ signal: Signal) -> (EarSound, EarSound) {
    let mono = Self.mono(signal)
    func delayed(_ frames: Int, _ gain: Float) -> [Float] {
      mono.indices.map { gain * mono[($0 - frames + mono.count) % mono.count] }
    }
    return (
      EarSound(left: delayed(0, 1), right: delayed(0, 1)),
      EarSound(left: delayed(34, 0.4), right: delayed(2, 1.2))
    )
  }

  /// A start within 0.001 of a whole number yields the frames from there on.
  @Test(arguments: [5.0, 4.9995, 5.0005, -0.0005])
  func stretchNearAFrameBeginsAtThatFrame(_ start: Double) {
    let sound = EarSound(left: [0, 1, 2, 3, 4, 5, 6, 7], right: [7, 6, 5, 4, 3, 2, 1, 0])
    let first = Float(start.rounded())
    #expect(sound.stretch(from: start, count: 2).left == [first, first + 1])
  }

  private static func mono(_ signal: Signal) -> [Float] {
    var random = SeededGenerator(9)
    var smooth: Float = 0
    let notes = (0..<14).map { _ in 220 * pow(2, Double.random(in: 0...1.5, using: &random)) }
    return (0..<period).map { frame in
      let time = Double(frame) / rate
      switch signal {
      case .noise:
        smooth += 0.5 * (Float.random(in: -1...1, using: &random) - smooth)
        return smooth
      case .tone: return Float(0.5 * sin(2 * Double.pi * 1000 * time))
      case .music:
        // A decaying note every 150 ms over a continuous bass.
        let note = Int(time / 0.15)
        let since = time - Double(note) * 0.15
        let pitch = notes[note]
        let bass = 0.2 * sin(2 * Double.pi * 110 * time)
        return Float(bass + 0.6 * exp(-since / 0.1) * sin(2 * Double.pi * pitch * since))
      }
    }
  }

  /// Returns a recording with noise that turns from one rendering to the other.
  ///
  /// - Parameter share: returns the completed share of the turn at a frame of the recording.
  private func recording(
    _ first: EarSound, _ second: EarSound, from place: Double, frames: Int, gain: Float = 0.7,
    noise: Float, seed: UInt64, share: (Double) -> Double
  ) -> EarSound {
    var random = SeededGenerator(seed)
    let a = first.stretch(from: place, count: frames).channels
    let b = second.stretch(from: place, count: frames).channels
    let ears = (0..<2).map { ear in
      (0..<frames).map { frame -> Float in
        let done = Float(share(Double(frame)))
        let sound = (1 - done) * a[ear][frame] + done * b[ear][frame]
        return gain * sound + noise * Float.random(in: -1...1, using: &random)
      }
    }
    return EarSound(left: ears[0], right: ears[1])
  }

  private func read(
    _ finder: TurnFinder, _ heard: EarSound, _ first: EarSound, _ second: EarSound
  ) throws -> TurnFinder.Turn {
    // Kept outside of `#require`, which would print all samples on failure.
    let found = finder.turn(in: heard, 0..<20_000, from: first, to: second)
    return try #require(found)
  }

  @Test(arguments: Signal.allCases, [Float(0), 0.02])
  func findsAnInstantTurn(signal: Signal, noise: Float) throws {
    let (first, second) = pair(signal)
    let finder = TurnFinder(sampleRate: Self.rate)
    var random = SeededGenerator(3)
    for seed in 0..<20 {
      let truth = Double.random(in: 6000...12_000, using: &random).rounded()
      let place = Double(Int.random(in: 0..<Self.period, using: &random))
      let heard = recording(
        first, second, from: place, frames: 20_000, noise: noise, seed: UInt64(seed)
      ) { $0 < truth ? 0 : 1 }
      let turn = try read(finder, heard, first, second)
      #expect(abs(turn.half - truth) < 0.0005 * Self.rate, "\(signal) \(turn.half) \(truth)")
      #expect(abs(turn.begin - truth) < 0.0015 * Self.rate)
      #expect(abs(turn.settled - truth) < 0.0015 * Self.rate)
      #expect(abs(turn.before.gain - 0.7) < 0.02)
    }
  }

  /// In a crossfade of 20 ms, the instant is the middle; begin and end are at a tenth from its
  /// ends.
  @Test(arguments: [Signal.noise, .tone])
  func findsTheMiddleOfAFade(signal: Signal) throws {
    let (first, second) = pair(signal)
    let finder = TurnFinder(sampleRate: Self.rate)
    var random = SeededGenerator(4)
    for seed in 0..<20 {
      let truth = Double.random(in: 6000...12_000, using: &random)
      let heard = recording(
        first, second, from: Double(seed * 4000), frames: 20_000, noise: 0.005, seed: UInt64(seed)
      ) { min(1, max(0, ($0 - truth) / 960 + 0.5)) }
      let turn = try read(finder, heard, first, second)
      #expect(abs(turn.half - truth) < 0.0005 * Self.rate)
      #expect(abs(turn.begin - (truth - 0.4 * 960)) < 0.0015 * Self.rate)
      #expect(abs(turn.settled - (truth + 0.4 * 960)) < 0.0015 * Self.rate)
    }
  }

  /// Simulates a cable and a sound card: positions between frames, and a clock that is off by 80
  /// ppm.
  @Test(arguments: [Signal.noise, .music])
  func findsItInAResampledRecording(signal: Signal) throws {
    let (first, second) = pair(signal)
    let finder = TurnFinder(sampleRate: Self.rate)
    var random = SeededGenerator(5)
    for seed in 0..<8 {
      let truth = Double.random(in: 6000...12_000, using: &random)
      let start = Double.random(in: 0..<90_000, using: &random)
      let heard = resampled(first, second, from: start, turnAt: truth, seed: UInt64(seed))
      let turn = try read(finder, heard, first, second)
      #expect(abs(turn.half - truth) < 0.0005 * Self.rate, "\(turn.half) \(truth)")
    }
  }

  private func resampled(
    _ first: EarSound, _ second: EarSound, from start: Double, turnAt turn: Double, seed: UInt64
  ) -> EarSound {
    var random = SeededGenerator(seed)
    var ears: [[Float]] = [[], []]
    for block in stride(from: 0, to: 20_000, by: 100) {
      let place = start + Double(block) * 1.00008
      let a = first.stretch(from: place, count: 100).channels
      let b = second.stretch(from: place, count: 100).channels
      for ear in 0..<2 {
        for i in 0..<100 {
          let sound = Double(block + i) < turn ? a[ear][i] : b[ear][i]
          ears[ear].append(0.3 * sound + 0.003 * Float.random(in: -1...1, using: &random))
        }
      }
    }
    return EarSound(left: ears[0], right: ears[1])
  }

  /// The finder refuses recordings without a turn.
  @Test func refusesWhatIsNoTurn() {
    let (first, second) = pair(.noise)
    let finder = TurnFinder(sampleRate: Self.rate)
    func read(_ heard: EarSound) -> TurnFinder.Turn? {
      finder.turn(in: heard, 0..<20_000, from: first, to: second)
    }
    let still = recording(
      first, second, from: 0, frames: 20_000, noise: 0.01, seed: 1
    ) { _ in 0 }
    #expect(read(still) == nil)
    let silence = [Float](repeating: 0, count: 20_000)
    #expect(read(EarSound(left: silence, right: silence)) == nil)
    // If 5 ms are lost in the middle, the rest is at another place of the source.
    let turned = recording(
      first, second, from: 0, frames: 20_240, noise: 0, seed: 1
    ) { $0 < 8000 ? 0 : 1 }
    let broken = EarSound(
      left: Array(turned.left[..<9000] + turned.left[9240...]),
      right: Array(turned.right[..<9000] + turned.right[9240...]))
    #expect(read(broken) == nil)
  }
}
