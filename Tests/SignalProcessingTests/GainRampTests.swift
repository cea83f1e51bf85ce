// SPDX-License-Identifier: Apache-2.0

import Glibc
import SignalProcessing
import TestSupport
import Testing

@Suite struct GainRampTests {
  @Test func startAndRestartFollowARaisedCosine() {
    let ramp = GainRamp(sampleRate: 48_000)
    #expect(ramp.rampFrames == 2_400)
    for _ in 0..<2 {
      let gains = apply(ramp, frames: 3_000)
      for i in 0..<2_400 {
        let expected = 0.5 - 0.5 * cos(.pi * Double(i + 1) / 2_400)
        #expect(abs(Double(gains[i]) - expected) < 1e-6)
      }
      #expect(gains[2_399...].allSatisfy { $0 == 1 })
      #expect(ramp.isSettled == true)
      ramp.restart()
      #expect(ramp.isSettled == false)
    }
  }

  @Test func newTargetIsReachedSmoothlyFromAnyGain() {
    let ramp = GainRamp(sampleRate: 48_000, rampMilliseconds: 10)
    var gains = apply(ramp, frames: 200)
    ramp.targetGain = 0.25
    gains += apply(ramp, frames: 100)
    ramp.targetGain = 2
    gains += apply(ramp, frames: 1_000)
    ramp.targetGain = 0
    gains += apply(ramp, frames: 1_000)
    let steps = zip(gains, gains.dropFirst()).map { abs($1 - $0) }
    #expect(steps.max()! < 0.0066, "at most pi / 2 / 480 of the change of 2")
    #expect(gains[1_299] == 2)
    #expect(gains.last == 0)
  }

  @Test(arguments: [[1], [7], [480], [5_000], [3, 1_000, 1]])
  func outputIsIndependentOfCallSize(sizes: [Int]) {
    #expect(pieces(sizes) == pieces([256]))
  }

  @Test func unityGainPassesSamplesBitForBit() {
    let ramp = GainRamp(sampleRate: 8_000, rampMilliseconds: 1)
    _ = apply(ramp, frames: 8)
    let signal = PlanarSignal([[0.1, -.leastNonzeroMagnitude, 3e38]])
    ramp.process(signal.channels, channelCount: 1, frames: 3)
    #expect(signal.arrays == [[0.1, -.leastNonzeroMagnitude, 3e38]])
  }

  @Test func restoredStateContinuesIdentically() {
    let ramp = GainRamp(sampleRate: 48_000)
    _ = apply(ramp, frames: 777)
    let state = ramp.state
    let first = apply(ramp, frames: 2_000)
    ramp.state = state
    #expect(apply(ramp, frames: 2_000) == first)
  }

  @Test(arguments: [Float.nan, .infinity, -1])
  func invalidTargetGainsAreIgnored(target: Float) {
    let ramp = GainRamp(sampleRate: 48_000, targetGain: 0.5)
    ramp.targetGain = target
    #expect(ramp.targetGain == 0.5)
  }

  private func apply(_ ramp: borrowing GainRamp, frames: Int) -> [Float] {
    let signal = PlanarSignal(channelCount: 2, frames: frames) { _, _ in 1 }
    ramp.process(signal.channels, channelCount: 2, frames: frames)
    #expect(signal.arrays[0] == signal.arrays[1])
    return signal.arrays[0]
  }

  private func pieces(_ sizes: [Int]) -> [[Float]] {
    let ramp = GainRamp(sampleRate: 48_000, targetGain: 0.7)
    let signal = PlanarSignal(channelCount: 2, frames: 5_000) { c, i in Float(i % 11 - c) }
    signal.forEachPiece(of: sizes) { ramp.process($0, channelCount: 2, frames: $1) }
    return signal.arrays
  }
}
