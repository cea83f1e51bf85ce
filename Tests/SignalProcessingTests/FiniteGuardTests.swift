// SPDX-License-Identifier: Apache-2.0

import SignalProcessing
import TestSupport
import Testing

@Suite struct FiniteGuardTests {
  static let bad: [Float] = [.nan, -.nan, .signalingNaN, .infinity, -.infinity, 1e30, -10_001]

  @Test func cleanSoundPassesBitForBit() {
    let signal = steady(4_000)
    signal[0][7] = 10_000
    signal[1][9] = .leastNonzeroMagnitude
    let finite = Self.newGuard()
    let output = clean(signal, with: finite)
    #expect(output == signal.arrays)
    #expect(finite.badFrameCount == 0)
  }

  @Test(arguments: bad)
  func badSampleIsMutedBrieflyWithoutAClick(value: Float) {
    let signal = steady(4_000)
    signal[1][1_000] = value
    let finite = Self.newGuard()
    let output = clean(signal, with: finite)
    #expect(finite.badFrameCount == 1)
    for c in 0..<3 {
      #expect(output[c][..<1_000].elementsEqual(signal.arrays[c][..<1_000]))
      #expect(output[c][1_240...].elementsEqual(signal.arrays[c][1_240...]))
      #expect(output[c].allSatisfy { abs($0) <= 1 })
      #expect(largestStep(output[c]) < 0.1, "a step is a click")
    }
  }

  @Test func longSeriesOfBadSamplesIsSilent() {
    let signal = steady(20_000)
    for i in 1_000..<15_000 { signal[0][i] = i.isMultiple(of: 3) ? .nan : 1e20 }
    let finite = Self.newGuard()
    let output = clean(signal, with: finite)
    #expect(finite.badFrameCount == 14_000)
    for c in 0..<3 {
      #expect(output[c][2_000..<15_000].allSatisfy { abs($0) < 1e-6 })
      #expect(largestStep(output[c]) < 0.1)
    }
  }

  /// Single bad samples in quick succession must neither let bursts through nor hold a level.
  @Test(arguments: [2, 3, 10, 100])
  func closelySpacedBadSamplesCauseNoBursts(distance: Int) {
    let signal = steady(20_000)
    for i in stride(from: 1_000, to: 15_000, by: distance) { signal[2][i] = .infinity }
    let finite = Self.newGuard()
    let output = clean(signal, with: finite)
    #expect(output[0].allSatisfy { abs($0) <= 1 })
    #expect(largestStep(output[0]) < 0.1)
    if distance <= 10 { #expect(output[0][3_000..<15_000].allSatisfy { abs($0) < 0.02 }) }
  }

  @Test(arguments: [[1], [3], [64], [1_000], [8_192], [5, 1, 700]])
  func outputIsIndependentOfCallSize(sizes: [Int]) {
    let signal = steady(10_000)
    for i in [0, 1, 500, 511, 512, 513, 4_096, 9_999] { signal[i % 3][i] = .nan }
    let output = clean(signal, with: Self.newGuard(), sizes: sizes)
    #expect(output == clean(signal, with: Self.newGuard(), sizes: [512]))
  }

  @Test func outputIsFiniteForArbitraryBitPatterns() {
    let signal = PlanarSignal(channelCount: 3, frames: 8_192) { channel, frame in
      Float(bitPattern: UInt32(truncatingIfNeeded: (frame * 3 + channel) &* 2_654_435_761))
    }
    let finite = Self.newGuard()
    let output = clean(signal, with: finite)
    #expect(finite.badFrameCount > 1_000)
    for c in 0..<3 { #expect(output[c].allSatisfy { abs($0) <= 10_000 }) }
  }

  @Test func resetEndsMutingImmediately() {
    let finite = FiniteGuard(channelCount: 1, sampleRate: 48_000)
    let signal = PlanarSignal([[0.5, .nan, 0.5]])
    finite.process(signal.channels, frames: 3)
    finite.reset()
    let next = PlanarSignal([[0.25, 0.5]])
    finite.process(next.channels, frames: 2)
    #expect(next.arrays == [[0.25, 0.5]])
    #expect(finite.badFrameCount == 1)
  }

  private func steady(_ frames: Int) -> PlanarSignal {
    PlanarSignal(channelCount: 3, frames: frames) { channel, frame in
      Float(channel + 1) * 0.3 + 0.001 * Float(frame % 7)
    }
  }

  private static func newGuard() -> FiniteGuard {
    FiniteGuard(channelCount: 3, sampleRate: 48_000)
  }

  private func clean(
    _ signal: PlanarSignal, with finite: borrowing FiniteGuard, sizes: [Int] = [256]
  ) -> [[Float]] {
    let copy = signal.copy
    copy.forEachPiece(of: sizes) { finite.process($0, frames: $1) }
    return copy.arrays
  }

  private func largestStep(_ samples: [Float]) -> Float {
    zip(samples, samples.dropFirst()).reduce(0) { max($0, abs($1.1 - $1.0)) }
  }
}
