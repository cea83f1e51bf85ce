// SPDX-License-Identifier: Apache-2.0

import CRealtime
import Geometry
import HeadTracking
import Testing

@testable import MIDITracking

/// The frames that a profile gets.
@Suite struct FramingTests {
  /// Makes the bytes of each frame readable through the pose's time.
  private struct Keeper: MIDIFrameDecoder {
    mutating func decode(_ frame: [UInt8], arrival: Int64) -> [TrackerReading]? {
      guard frame.count < 8 else { return nil }
      let number = frame.reduce(Int64(0)) { $0 << 8 | Int64($1) }
      return [.head(HeadSample(time: number, headToWorld: .identity))]
    }
  }

  private func times(_ readings: [TrackerReading]?) -> [Int64]? {
    readings?.map { if case .head(let sample) = $0 { sample.time } else { -1 } }
  }

  @Test("SysEx messages of one length and beginning are frames")
  func systemExclusive() {
    var tracker = MIDIFrames(
      .systemExclusive(prefix: [0xF0, 0x7D], length: 5), startMessages: [[0xF0, 1, 0xF7]],
      silenceLimit: 5, decoder: Keeper())
    #expect(tracker.startMessages == [[0xF0, 1, 0xF7]] && tracker.silenceLimit == 5)
    let frame = MIDIMessage.systemExclusive(hex("F0 7D 01 02 F7"))
    #expect(times(tracker.decode(frame, arrival: 1)) == [0xF0_7D01_02F7])
    #expect(tracker.decode(.systemExclusive(hex("F0 7D 01 F7")), arrival: 1) == [])
    #expect(tracker.decode(.systemExclusive(hex("F0 7E 01 02 F7")), arrival: 1) == [])
    #expect(tracker.decode(.channel(status: 0xB0, first: 1, second: 1), arrival: 1) == [])
  }

  @Test("Start messages wait for their delay, and others keep the tracker sending")
  func keepsAlive() throws {
    let ports = FakePorts([FakePorts.port(20, "box")])
    let tracker = MIDIFrames(
      .systemExclusive(prefix: [0xF0], length: nil), startMessages: [[0xF0, 1, 0xF7]],
      startDelay: 100_000_000, keepAlive: ([[0xF0, 2, 0xF7]], 200_000_000),
      stopMessages: [[0xF0, 3, 0xF7]], decoder: Keeper())
    var connection = try MIDIConnection(ports.open(ports.ports()[0]), tracker)
    _ = connection.listen(timeoutMilliseconds: 1)
    #expect(ports.change { $0.written } == [])
    let end = monotonic_nanoseconds() + 650_000_000
    while monotonic_nanoseconds() < end { _ = connection.listen(timeoutMilliseconds: 5) }
    let written = ports.change { $0.written.map { $0[1] } }
    #expect(written.first == 1 && written.dropFirst().allSatisfy { $0 == 2 })
    #expect((2...5).contains(written.count))
    connection.close()
    #expect(ports.change { $0.written }.last == [0xF0, 3, 0xF7])
  }

  @Test("Controllers give two bytes for each pair, once all pairs are known")
  func controllers() {
    let pairs = [
      ControllerPair(channel: 2, upper: 1, lower: 33), ControllerPair(upper: 2, lower: 34),
    ]
    var tracker = MIDIFrames(
      .controllers(pairs, quietNanoseconds: 2_000_000), decoder: Keeper())
    func change(_ status: UInt8, _ controller: UInt8, _ value: UInt8) -> [Int64]? {
      times(
        tracker.decode(.channel(status: status, first: controller, second: value), arrival: 10))
    }
    #expect(change(0xB1, 33, 5) == [] && change(0xB1, 1, 6) == [])
    #expect(tracker.due == 2_000_010)
    #expect(times(tracker.advance(now: 2_000_010)) == [])
    #expect(change(0xB0, 34, 7) == [] && change(0xB0, 2, 8) == [])
    #expect(change(0xB0, 34, 9) == [0x0605_0807])
    #expect(change(0xB0, 2, 9) == [])
    #expect(times(tracker.advance(now: 3_000_000)) == [0x0605_0909])
    #expect(change(0xB0, 2, 9) == nil)
  }
}
