// SPDX-License-Identifier: Apache-2.0

import Glibc
import SignalProcessing
import TestSupport
import Testing

@Suite struct FrameRingTests {
  @Test func framesAreReadInWriteOrder() {
    let ring = FrameRing(channelCount: 2, capacity: 10)
    var next = 0
    var expected = 0
    for size in [3, 7, 1, 10, 4, 6, 9, 2, 5] {
      let input = PlanarSignal(channelCount: 2, frames: size) { Float((next + $1) * 2 + $0) }
      #expect(ring.write(from: input.channels, frames: size) == size)
      next += size
      #expect(ring.fill == size)
      #expect(ring.room == 10 - size)
      let output = PlanarSignal(channelCount: 2, frames: size)
      #expect(ring.read(into: output.channels, frames: size) == size)
      for c in 0..<2 {
        for i in 0..<size { #expect(output[c][i] == Float((expected + i) * 2 + c)) }
      }
      expected += size
    }
  }

  @Test func transfersAreLimitedByCapacityAndFill() {
    let ring = FrameRing(channelCount: 1, capacity: 4)
    let input = PlanarSignal([[1, 2, 3, 4, 5, 6]])
    #expect(ring.write(from: input.channels, at: 1, frames: 5) == 4)
    #expect(ring.write(from: input.channels, frames: 1) == 0)
    let output = PlanarSignal(channelCount: 1, frames: 8) { _, _ in -1 }
    #expect(ring.discard(frames: 1) == 1)
    #expect(ring.read(into: output.channels, at: 2, frames: 6) == 3)
    #expect(output.arrays == [[-1, -1, 3, 4, 5, -1, -1, -1]])
    #expect(ring.read(into: output.channels, frames: 1) == 0)
    #expect(ring.discard(frames: 1) == 0)
    #expect(ring.fill == 0)
  }

  @Test func flushDropsOldFramesAndCountsGenerations() {
    let ring = FrameRing(channelCount: 1, capacity: 8)
    let output = PlanarSignal(channelCount: 1, frames: 8)
    let input = PlanarSignal([[1, 2, 3, 4, 5]])
    ring.write(from: input.channels, frames: 3)
    #expect(ring.flush() == 1)
    #expect(ring.fill == 0)
    #expect(ring.room == 5)
    ring.write(from: input.channels, at: 3, frames: 2)
    #expect(ring.fill == 2)
    #expect(ring.generation == 0)
    #expect(ring.read(into: output.channels, frames: 8) == 2)
    #expect(ring.generation == 1)
    #expect(output[0][0] == 4)
    #expect(ring.room == 8)
    for _ in 0..<65_535 { ring.flush() }
    #expect(ring.discard(frames: 8) == 0)
    #expect(ring.generation == 0)
  }

  /// Passes two million frames between two threads, with flushes in between. No frame may be torn,
  /// repeated or out of order, and frames may be lost only at a flush.
  @Test func framesPassIntactBetweenTwoThreads() {
    let trial = RingTrial()
    var producer = pthread_t()
    let argument = Unmanaged.passUnretained(trial).toOpaque()
    pthread_create(
      &producer, nil,
      { Unmanaged<RingTrial>.fromOpaque($0!).takeUnretainedValue().produce() }, argument)
    let result = trial.consume()
    pthread_join(producer, nil)
    #expect(result.faults == 0)
    #expect(result.last == RingTrial.total)
    #expect(result.generation == RingTrial.total / RingTrial.flushInterval)
  }
}

/// Channel 0 carries the low 20 bits of the frame number, channel 1 the rest; both are exact in
/// Float.
private final class RingTrial: @unchecked Sendable {
  static let total = 2_000_000
  static let flushInterval = 500_000
  let ring = FrameRing(channelCount: 2, capacity: 1_021)

  func produce() -> UnsafeMutableRawPointer? {
    let block = PlanarSignal(channelCount: 2, frames: 400)
    var next = 1
    var size = 1
    while next <= Self.total {
      size = size % 400 + 1
      let untilFlush = Self.flushInterval - (next - 1) % Self.flushInterval
      let count = min(size, untilFlush)
      for i in 0..<count {
        block[0][i] = Float((next + i) & 0xfffff)
        block[1][i] = Float((next + i) >> 20)
      }
      var done = 0
      while done < count {
        let written = ring.write(from: block.channels, at: done, frames: count - done)
        if written == 0 { sched_yield() }
        done += written
      }
      next += count
      // A flush drops frames that have not been read, so wait for the reader before the last one.
      if (next - 1) % Self.flushInterval == 0 {
        if next > Self.total { while ring.fill > 0 { sched_yield() } }
        ring.flush()
      }
    }
    return nil
  }

  func consume() -> (faults: Int, last: Int, generation: Int) {
    let block = PlanarSignal(channelCount: 2, frames: 300)
    var (faults, last, generation, size) = (0, 0, 0, 1)
    while ring.generation < Self.total / Self.flushInterval {
      size = size % 300 + 1
      let count = ring.read(into: block.channels, frames: size)
      if count == 0 { sched_yield() }
      for i in 0..<count {
        let number = Int(block[1][i]) << 20 + Int(block[0][i])
        let begin = ring.generation * Self.flushInterval + 1
        let isNext = number == last + 1
        let isFirstOfGeneration = ring.generation > generation && number == begin
        if !isNext && !isFirstOfGeneration { faults += 1 }
        if number < begin { faults += 1 }
        generation = ring.generation
        last = number
      }
      // If a flush is seen before its first frame arrives, that frame updates `generation`.
    }
    return (faults, last, ring.generation)
  }
}
