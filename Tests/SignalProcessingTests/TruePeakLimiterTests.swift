// SPDX-License-Identifier: Apache-2.0

import Glibc
import SignalProcessing
import TestSupport
import Testing

@Suite struct TruePeakLimiterTests {
  /// Signals that are difficult for limiters, tested with 5,500 frames each. `sample` takes the
  /// frame number.
  static let hardSignals: [(name: String, sample: @Sendable (Int) -> Float)] = [
    ("square 997 Hz", { sign(sine(997, $0)) }),
    ("square 50 Hz", { sign(sine(50, $0)) }),
    ("square 11,111 Hz", { sign(sine(11_111, $0)) }),
    ("white noise", { noise(1, $0) }),
    ("two-valued noise", { sign(noise(2, $0)) }),
    ("noise, +12 dB", { 4 * noise(3, $0) }),
    ("sine, step of 40 dB", { ($0 < 2_500 ? 1 : 100) * 0.5 * sine(1_000, $0) }),
    ("9.7 kHz, step of 40 dB", { ($0 < 2_500 ? 1 : 100) * sine(9_700, $0) }),
    ("noise, step of 40 dB", { ($0 < 2_500 ? 1 : 100) * 0.5 * noise(4, $0) }),
    ("noise, step down of 40 dB", { ($0 < 1_500 ? 100 : 1) * noise(5, $0) }),
    ("quarter of the rate at 45 degrees", { sinf(.pi / 2 * Float($0 % 4) + .pi / 4) }),
    ("the same, +6 dB", { 2 * sinf(.pi / 2 * Float($0 % 4) + .pi / 4) }),
    ("20 kHz, +6 dB", { 2 * sine(20_000, $0) }),
    ("23 kHz, +6 dB", { 2 * sine(23_000, $0) }),
    ("impulses of 100 in silence", { $0 % 1_999 == 700 ? 100 : 0 }),
    ("impulses of 100 in noise", { $0 % 1_999 == 700 ? -100 : 0.5 * noise(6, $0) }),
    ("impulses of 10,000", { $0 % 3_001 == 5 ? 10_000 : 0.9 * sine(440, $0) }),
  ]

  @Test(arguments: hardSignals.indices)
  func limiterKeepsTruePeakBelowCeiling(index: Int) {
    let signal = PlanarSignal(channelCount: 2, frames: 5_500) { channel, frame in
      channel == 0 ? Self.hardSignals[index].sample(frame) : 0.3 * sine(300, frame)
    }
    let output = limit(signal, sampleRate: 48_000)
    let peak = TruePeakMeter.decibels(output[0])
    #expect(peak <= -0.9, "\(Self.hardSignals[index].name): \(peak) dBTP")
    #expect(TruePeakMeter.decibels(output[1]) <= -0.9)
  }

  @Test(arguments: [8_000, 44_100, 96_000, 384_000] as [Double])
  func ceilingHoldsAtEveryRate(sampleRate: Double) {
    for index in [0, 3, 8, 15] {
      let signal = PlanarSignal(channelCount: 2, frames: 5_500) { _, frame in
        Self.hardSignals[index].sample(frame)
      }
      let peak = TruePeakMeter.decibels(limit(signal, sampleRate: sampleRate)[1])
      #expect(peak <= -0.9, "\(Self.hardSignals[index].name): \(peak) dBTP")
    }
  }

  @Test(arguments: [-0.1, -3, -20] as [Double])
  func otherCeilingsHold(ceiling: Double) {
    let signal = PlanarSignal(channelCount: 2, frames: 5_500) { _, frame in 2 * noise(9, frame) }
    let output = limit(signal, sampleRate: 48_000, ceiling: ceiling)
    #expect(TruePeakMeter.decibels(output[0]) <= ceiling + 0.1)
  }

  /// The limiter must not keep the ceiling by reducing the level more than necessary.
  @Test func loudSignalReachesTheCeiling() {
    let signal = PlanarSignal(channelCount: 2, frames: 5_500) { _, frame in 4 * sine(997, frame) }
    let peak = TruePeakMeter.decibels(limit(signal, sampleRate: 48_000)[0])
    #expect(peak >= -1.2, "\(peak) dBTP")
  }

  @Test(arguments: [8_000, 44_100, 48_000, 384_000] as [Double])
  func signalBelowTheCeilingIsOnlyDelayed(sampleRate: Double) {
    let signal = PlanarSignal(channelCount: 2, frames: 5_500) { channel, frame in
      // The signal has complete periods, because an end within a period would overshoot between
      // samples.
      channel == 0 ? 0.88 * Float(sin(2 * .pi * Double(frame) / 44)) : 0.25 * noise(7, frame)
    }
    let latency = TruePeakLimiter(sampleRate: sampleRate).latencyFrames
    let output = limit(signal, sampleRate: sampleRate)
    for c in 0..<2 {
      #expect(output[c][..<latency].allSatisfy { $0 == 0 })
      #expect(output[c][latency...].elementsEqual(signal.arrays[c]))
    }
  }

  @Test func latencyIsThreeCellsPlusLookAhead() {
    #expect(TruePeakLimiter(sampleRate: 48_000).latencyFrames == 96)
    #expect(TruePeakLimiter(sampleRate: 96_000).latencyFrames == 144)
    #expect(TruePeakLimiter(sampleRate: 8_000).latencyFrames == 80)
  }

  @Test func limiterReturnsToAPureDelayAfterAPeak() {
    let signal = PlanarSignal(channelCount: 2, frames: 110_000) { _, frame in
      frame == 1_000 ? 50 : 0.5 * sine(440, frame)
    }
    let output = limit(signal, sampleRate: 48_000)
    let input = signal.arrays[0]
    #expect(output[0][20_000 + 96] != input[20_000])
    for frame in 105_000..<110_000 { #expect(output[0][frame + 96] == input[frame]) }
  }

  /// After the release time, 1/e of the gain reduction must remain.
  @Test func releaseFollowsItsTimeConstant() {
    let signal = PlanarSignal(channelCount: 2, frames: 24_000) { _, frame in
      frame == 1_000 ? 8 : 0.25
    }
    let output = limit(signal, sampleRate: 48_000)
    let atPeak = Double(output[0][1_050 + 96]) / 0.25
    let later = Double(output[0][1_050 + 4_800 + 96]) / 0.25
    #expect(abs((1 - later) / (1 - atPeak) - exp(-1)) < 0.02)
  }

  @Test func bothChannelsGetTheSameGain() {
    let signal = PlanarSignal(channelCount: 2, frames: 5_500) { channel, frame in
      channel == 0 ? 3 * sine(997, frame) : 0.25
    }
    let output = limit(signal, sampleRate: 48_000)
    let input = signal.arrays[0]
    for frame in 200..<5_000 where abs(input[frame]) > 0.1 {
      let left = output[0][frame + 96] / input[frame]
      let right = output[1][frame + 96] / 0.25
      #expect(abs(left - right) < 1e-5)
    }
    #expect(output[1][4_000] < 0.1)
  }

  @Test(arguments: [[1], [7], [16], [64], [1_000], [8_192], [1, 2, 3, 500, 15, 17, 31, 2_048]])
  func outputIsIndependentOfCallSize(sizes: [Int]) {
    let signal = hardMix(8_200)
    let whole = limit(signal, sampleRate: 48_000, sizes: [256])
    #expect(limit(signal, sampleRate: 48_000, sizes: sizes) == whole)
  }

  @Test func restoredStateContinuesIdentically() {
    let limiter = TruePeakLimiter(sampleRate: 48_000)
    let saved = UnsafeMutableRawPointer.allocate(
      byteCount: limiter.stateByteCount, alignment: 16)
    defer { saved.deallocate() }
    let signal = hardMix(8_000)
    let first = signal.copy
    limiter.process(first[0], first[1], frames: 5_003)
    limiter.saveState(into: saved)
    limiter.process(first[0] + 5_003, first[1] + 5_003, frames: 2_997)

    let expected = first.arrays.map { Array($0[5_003...]) }
    #expect(resume(limiter, at: 5_003, of: signal, from: saved) == expected)
    let other = TruePeakLimiter(sampleRate: 48_000)
    #expect(resume(other, at: 5_003, of: signal, from: saved) == expected)
  }

  /// Returns the output from `frame` on after restoring the state.
  private func resume(
    _ limiter: borrowing TruePeakLimiter, at frame: Int, of signal: PlanarSignal,
    from state: UnsafeRawPointer
  ) -> [[Float]] {
    let copy = signal.copy
    limiter.restoreState(from: state)
    limiter.process(copy[0] + frame, copy[1] + frame, frames: signal.frames - frame)
    return copy.arrays.map { Array($0[frame...]) }
  }

  @Test func resetClearsAllState() {
    let limiter = TruePeakLimiter(sampleRate: 48_000)
    let signal = hardMix(3_000)
    let first = signal.copy
    limiter.process(first[0], first[1], frames: 3_000)
    limiter.reset()
    let second = signal.copy
    limiter.process(second[0], second[1], frames: 3_000)
    #expect(first.arrays == second.arrays)
  }

  @Test(arguments: [Float.nan, .infinity, -.infinity, 3e38])
  func invalidSampleMutesOnlyItsOwnFrame(bad: Float) {
    let signal = PlanarSignal(channelCount: 2, frames: 4_000) { channel, frame in
      frame == 500 && channel == 0 ? bad : 0.5
    }
    let output = limit(signal, sampleRate: 48_000)
    #expect(output[0][596] == 0)
    #expect(output[0][..<596].dropFirst(96).allSatisfy { $0 == 0.5 })
    #expect(output[0][..<4_000].dropFirst(597).allSatisfy { $0 == 0.5 })
  }

  private func hardMix(_ frames: Int) -> PlanarSignal {
    PlanarSignal(channelCount: 2, frames: frames) { channel, frame in
      let swell = 0.2 + 3 * max(0, sine(11, frame) - 0.3)
      return frame % 1_777 == 99 ? 20 : swell * noise(UInt64(channel + 20), frame)
    }
  }

  /// Returns the output including its tail, so that the limiter holds no more of the signal.
  private func limit(
    _ signal: PlanarSignal, sampleRate: Double, ceiling: Double = -1, sizes: [Int] = [512]
  ) -> [[Float]] {
    let limiter = TruePeakLimiter(sampleRate: sampleRate, ceilingDecibels: ceiling)
    let all = PlanarSignal(channelCount: 2, frames: signal.frames + limiter.latencyFrames) {
      $1 < signal.frames ? signal[$0][$1] : 0
    }
    all.forEachPiece(of: sizes) { limiter.process($0[0], $0[1], frames: $1) }
    return all.arrays
  }
}

/// A sine at a rate of 48 kHz. The initial phase of 0.1 rad keeps samples off its zeros and crests.
private func sine(_ frequency: Double, _ frame: Int) -> Float {
  Float(sin(2 * .pi * frequency * Double(frame) / 48_000 + 0.1))
}

private func sign(_ x: Float) -> Float { x < 0 ? -1 : 1 }

/// White noise, uniform in -1 to 1: a hash of seed and frame.
private func noise(_ seed: UInt64, _ frame: Int) -> Float {
  let z = SeededGenerator.value(at: seed << 32 &+ UInt64(frame))
  return Float(z >> 40) / 8_388_608 - 1
}
