// SPDX-License-Identifier: Apache-2.0

import SignalProcessing
import TestSupport
import Testing

@Suite struct SignalProcessingSafetyTests {
  private let signal = PlanarSignal(channelCount: 2, frames: 700) { channel, frame in
    frame.isMultiple(of: 90) ? 8 : Float(channel + 1) * 0.4
  }

  @Test func limiterIsRealtimeSafe() {
    let limiter = TruePeakLimiter(sampleRate: 48_000)
    let state = UnsafeMutableRawPointer.allocate(
      byteCount: limiter.stateByteCount, alignment: 16)
    defer { state.deallocate() }
    expectRealtimeSafe { limiter.process(signal[0], signal[1], frames: 700) }
    expectRealtimeSafe { limiter.saveState(into: state) }
    expectRealtimeSafe { limiter.restoreState(from: state) }
  }

  @Test func finiteGuardIsRealtimeSafe() {
    let finite = FiniteGuard(channelCount: 2, sampleRate: 48_000)
    expectRealtimeSafe {
      signal[1][300] = .nan
      finite.process(signal.channels, frames: 700)
    }
    #expect(finite.badFrameCount == 3)
  }

  @Test func gainRampIsRealtimeSafe() {
    let ramp = GainRamp(sampleRate: 48_000)
    expectRealtimeSafe {
      ramp.targetGain = ramp.targetGain == 1 ? 0.5 : 1
      ramp.process(signal.channels, channelCount: 2, frames: 700)
    }
  }

  @Test func frameRingIsRealtimeSafe() {
    let ring = FrameRing(channelCount: 2, capacity: 1_000)
    expectRealtimeSafe {
      ring.write(from: signal.channels, frames: 700)
      _ = ring.read(into: signal.channels, frames: 300)
      ring.flush()
      ring.discard(frames: 10)
    }
  }

  @Test func levelMeterIsRealtimeSafe() {
    let meter = LevelMeter()
    expectRealtimeSafe {
      meter.process(signal[0], signal[1], frames: 700)
      _ = meter.read()
    }
  }
}
