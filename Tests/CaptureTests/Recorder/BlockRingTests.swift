// SPDX-License-Identifier: Apache-2.0

import SoundServer
import Testing

@testable import Capture
@testable import PulseAudio

struct BlockRingTests {
  @Test func recordsPassInOrder() {
    let ring = BlockRing(bytes: 5000)
    var taken: [Float] = []
    var expected: [Float] = []
    var next: Float = 1
    var samples: [Float] = []
    for round in 0..<400 {
      let count = 1 + round * 7 % 90
      let block = (0..<count).map { next + Float($0) }
      var header = BlockRing.Header()
      (header.channels, header.frames, header.arrival) = (1, Int32(count), Int64(round))
      #expect(ring.write(header, block))
      expected += block
      next += Float(count)
      if round % 3 == 2 {
        while let read = ring.read(into: &samples) { taken += samples[..<Int(read.frames)] }
      }
    }
    while let read = ring.read(into: &samples) { taken += samples[..<Int(read.frames)] }
    #expect(taken == expected)
  }

  @Test func droppedFramesAreCountedAndEventsAreKept() throws {
    let ring = BlockRing(bytes: 8192)
    var header = BlockRing.Header()
    (header.channels, header.frames) = (2, 100)
    let block = [Float](repeating: 1, count: 200)
    var written = 0
    while ring.write(header, block) { written += 1 }
    #expect(!ring.write(header, block))
    var event = BlockRing.Header()
    event.kind = .event
    #expect(ring.write(event))
    var samples: [Float] = []
    for _ in 0..<written { #expect(try #require(ring.read(into: &samples)).droppedFrames == 0) }
    let read = try #require(ring.read(into: &samples))
    #expect(read.kind == .event && read.droppedFrames == 200)
    #expect(ring.read(into: &samples) == nil || ring.fill == 0)
    #expect(ring.write(header, block))
  }

  @Test func integersBecomeFloatsExactly() {
    let values: [Int32] = [0, 1, -1, 0x7F_FFFF, -0x80_0000, 0x12_3456, -0x65_4321]
    var bytes24: [UInt8] = []
    var bytes24in32: [UInt8] = []
    var bytes32: [UInt8] = []
    for value in values {
      withUnsafeBytes(of: value.littleEndian) { bytes24 += $0.prefix(3) }
      // The unused upper byte may hold anything.
      withUnsafeBytes(of: (value & 0xFF_FFFF | 0x5A00_0000).littleEndian) { bytes24in32 += $0 }
      withUnsafeBytes(of: (value << 8).littleEndian) { bytes32 += $0 }
    }
    let expected = values.map { Float($0) * 0x1p-23 }
    for (encoding, bytes) in [
      (SampleEncoding.int24, bytes24), (.int24in32, bytes24in32), (.int32, bytes32),
    ] {
      var samples = [Float](repeating: 9, count: values.count)
      bytes.withUnsafeBytes {
        encoding.convert($0.baseAddress!, to: &samples, count: values.count)
      }
      #expect(samples == expected, "\(encoding)")
    }
  }
}
