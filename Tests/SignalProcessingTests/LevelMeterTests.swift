// SPDX-License-Identifier: Apache-2.0

import Glibc
import SignalProcessing
import TestSupport
import Testing

@Suite struct LevelMeterTests {
  @Test func meterReadsPeakAndRMSOfASine() {
    let meter = LevelMeter()
    let signal = PlanarSignal(channelCount: 2, frames: 4_800) { channel, frame in
      (channel == 0 ? 1 : -0.25) * Float(sin(2 * .pi * 100 * Double(frame) / 4_800))
    }
    signal.forEachPiece(of: [100, 1, 999]) { meter.process($0[0], $0[1], frames: $1) }
    let levels = meter.read()
    #expect(abs(levels.peak[0] - 1) < 1e-3)
    #expect(abs(levels.peak[1] - 0.25) < 1e-3)
    #expect(abs(levels.rms[0] - 0.70711) < 1e-4)
    #expect(abs(levels.rms[1] - 0.17678) < 1e-4)
  }

  @Test func readingResetsTheMeter() {
    let meter = LevelMeter()
    let loud = PlanarSignal([[1, -1], [0.5, 0.5]])
    let quiet = PlanarSignal([[0.1, -0.1], [0, 0]])
    meter.process(loud[0], loud[1], frames: 2)
    _ = meter.read()
    meter.process(quiet[0], quiet[1], frames: 2)
    let levels = meter.read()
    #expect(levels.peak == SIMD2(0.1, 0))
    #expect(abs(levels.rms[0] - 0.1) < 1e-7)
    #expect(meter.read() == LevelMeter.Levels.silence)
  }

  /// Energy and number of frames are consistent, whenever the meter is read.
  @Test func readingsFromAnotherThreadAreConsistent() {
    let meter = UnsafeMutablePointer<LevelMeter>.allocate(capacity: 1)
    meter.initialize(to: LevelMeter())
    defer {
      meter.deinitialize(count: 1)
      meter.deallocate()
    }
    var writer = pthread_t()
    pthread_create(
      &writer, nil,
      { argument in
        let meter = argument!.assumingMemoryBound(to: LevelMeter.self)
        let signal = PlanarSignal(channelCount: 2, frames: 16) { _, _ in 0.5 }
        for _ in 0..<50_000 { meter.pointee.process(signal[0], signal[1], frames: 16) }
        return nil
      }, meter)
    var faults = 0
    for _ in 0..<20_000 {
      let rms = meter.pointee.read().rms
      if rms[0] != 0, abs(rms[0] - 0.5) > 1e-3 { faults += 1 }
    }
    pthread_join(writer, nil)
    #expect(faults == 0)
  }
}
