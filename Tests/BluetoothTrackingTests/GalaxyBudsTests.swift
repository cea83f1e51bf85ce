// SPDX-License-Identifier: Apache-2.0

import Geometry
import HeadTracking
import TestSupport
import Testing

@testable import BluetoothTracking

@Suite struct GalaxyFrameTests {
  static let vectors: [(String, UInt8, [UInt8])] = [
    ("fd0400 7c 01 155d dd", 0x7C, [1]), ("fd0400 c3 00 0743 dd", 0xC3, [0]),
    ("fd0400 c3 04 8303 dd", 0xC3, [4]), ("fd0400 c3 01 2653 dd", 0xC3, [1]),
    ("fd0400 7c 00 344d dd", 0x7C, [0]), ("fd0400 c3 02 4563 dd", 0xC3, [2]),
    ("fd0400 c3 03 6473 dd", 0xC3, [3]), ("fd0500 c2 2101 616d dd", 0xC2, [0x21, 1]),
    ("fd0a00 c2 230c00f9ff0300 6acf dd", 0xC2, hex("230c00f9ff0300")),
    ("fd0d00 c2 20 0000 0000 0000 1027 00 d388 dd", 0xC2, hex("20000000000000102700")),
  ]

  @Test("Frames have the documented bytes", arguments: vectors)
  func bytes(text: String, id: UInt8, payload: [UInt8]) {
    let frame = GalaxyFrame(id: id, payload: payload)
    #expect(frame.bytes == hex(text))
    var framer = GalaxyFramer()
    #expect(framer.take(hex(text)).frames == [frame])
  }

  @Test("The checksum of the documented message is 0xF30F")
  func checksum() {
    #expect(GalaxyFrame.checksum(hex("610200 4B5F0100000001050002 0013")[...]) == 0xF30F)
  }

  @Test("A stream cut anywhere, with noise and damaged frames between, yields all intact frames")
  func resynchronises() {
    var random = SeededGenerator.forTest()
    for _ in 0..<200 {
      var (stream, wanted): ([UInt8], [GalaxyFrame]) = ([], [])
      for _ in 0..<20 {
        let payload = (0..<Int.random(in: 1...40, using: &random)).map { _ in
          UInt8.random(in: 0...255, using: &random)
        }
        let frame = GalaxyFrame(id: .random(in: 0...255, using: &random), payload: payload)
        var bytes = frame.bytes
        if Int.random(in: 0..<4, using: &random) == 0 {
          bytes[Int.random(in: 3..<bytes.count, using: &random)] ^= 0x55
        } else {
          wanted.append(frame)
        }
        // Noise that holds no start byte cannot hide the next frame.
        let noise = (0..<Int.random(in: 0...3, using: &random)).map { _ in
          UInt8.random(in: 0...0xFC, using: &random)
        }
        stream += bytes + noise
      }
      // A damaged frame may look longer than it is; bytes behind it complete it.
      stream += [UInt8](repeating: 0, count: 1100)
      var framer = GalaxyFramer()
      var found: [GalaxyFrame] = []
      while !stream.isEmpty {
        let count = min(stream.count, Int.random(in: 1...50, using: &random))
        found += framer.take(Array(stream.prefix(count))).frames
        stream.removeFirst(count)
      }
      #expect(found.filter(wanted.contains).count == wanted.count)
    }
  }
}

@Suite struct GalaxyBudsProtocolTests {
  private let second: Int64 = 1_000_000_000

  private func frame(_ text: String) -> [UInt8] { hex(text) }

  private func samples(_ output: EarphoneOutput) -> [HeadSample] {
    output.readings.compactMap { if case .head(let sample) = $0 { sample } else { nil } }
  }

  @Test("It attaches, and asks three times for an answer")
  func attaches() {
    var buds = GalaxyBudsProtocol()
    #expect(
      buds.open(now: 0).packets == [frame("fd0400 7c 01 155d dd"), frame("fd0400 c3 00 0743 dd")])
    var attaches = 0
    for step in 1...200 {
      let output = buds.advance(now: Int64(step) * 50_000_000)
      attaches += output.packets.filter { $0 == frame("fd0400 c3 00 0743 dd") }.count
    }
    #expect(attaches == 2)
  }

  @Test("It sends a sign of life every 2 s, and detaches at the end")
  func keepsAlive() {
    var buds = GalaxyBudsProtocol()
    _ = buds.open(now: 0)
    var alive = 0
    for step in 1...200 {
      let now = Int64(step) * 50_000_000
      _ = buds.receive(frame("fd0d00 c2 20 0000 0000 0000 1027 00 d388 dd"), now: now)
      alive += buds.advance(now: now).packets.filter { $0 == frame("fd0400 c3 04 8303 dd") }.count
    }
    #expect(alive == 5)
    #expect(
      buds.close(now: 0) == [frame("fd0400 c3 01 2653 dd"), frame("fd0400 7c 00 344d dd")])
  }

  @Test("An orientation is x, y, z, w in units of 1/10000")
  func orientation() throws {
    var buds = GalaxyBudsProtocol()
    _ = buds.open(now: 0)
    let output = buds.receive(
      frame("fd0d00 c2 20 2607 e4f5 de12 e01f 01 edc8 dd"), now: second)
    let turn = try #require(samples(output).first?.headToWorld)
    for (value, wanted) in zip(
      [turn.x, turn.y, turn.z, turn.w], [0.1830, -0.2588, 0.4830, 0.8160])
    {
      #expect(abs(value - wanted) < 2e-4)
    }
  }

  @Test("An orientation whose norm is not near 1 is counted and dropped")
  func badNorm() {
    var buds = GalaxyBudsProtocol()
    _ = buds.open(now: 0)
    let payload: [UInt8] = [32] + [UInt8](repeating: 0, count: 9)
    let output = buds.receive(GalaxyFrame(id: 0xC2, payload: payload).bytes, now: second)
    #expect(output.readings.isEmpty && output.rejectedCount == 1)
  }

  @Test("Out of the ears the pose is held, and the return is a discontinuity")
  func takenOff() {
    var buds = GalaxyBudsProtocol()
    _ = buds.open(now: 0)
    let pose = frame("fd0d00 c2 20 0000 0000 9f1b 9f1b 00 8b99 dd")
    let before = samples(buds.receive(pose, now: second))
    let removed = buds.receive(GalaxyFrame(id: 0xC2, payload: [34, 1]).bytes, now: 2 * second)
    #expect(removed.readings == [.worn(false)])
    let held = (1...10).flatMap { samples(buds.advance(now: 2 * second + Int64($0) * 50_000_000)) }
    #expect(held.count >= 9 && held.allSatisfy { $0.headToWorld == before[0].headToWorld })
    #expect(samples(buds.receive(pose, now: 3 * second)).isEmpty)
    let back = buds.receive(GalaxyFrame(id: 0xC2, payload: [33, 1]).bytes, now: 4 * second)
    #expect(back.readings == [.worn(true)])
    let after = samples(buds.receive(pose, now: 4 * second))
    #expect(after.first?.discontinuityCount == before[0].discontinuityCount + 1)
  }

  @Test("Buds that are taken off before the first sample keep their link")
  func takenOffAtFirst() {
    var buds = GalaxyBudsProtocol()
    _ = buds.open(now: 0)
    _ = buds.receive(GalaxyFrame(id: 0xC2, payload: [34, 1]).bytes, now: second)
    for step in 1...1200 {
      #expect(!buds.advance(now: second + Int64(step) * 50_000_000).needsReopening)
    }
  }

  @Test("After 3 s of silence it attaches again; after 12 s it asks for a new link")
  func silence() {
    var buds = GalaxyBudsProtocol()
    _ = buds.open(now: 0)
    _ = buds.receive(frame("fd0d00 c2 20 0000 0000 0000 1027 00 d388 dd"), now: 0)
    var (attachAt, reopenAt): (Int64?, Int64?) = (nil, nil)
    for step in 1...300 {
      let now = Int64(step) * 50_000_000
      let output = buds.advance(now: now)
      if attachAt == nil, output.packets.contains(frame("fd0400 c3 00 0743 dd")) { attachAt = now }
      if reopenAt == nil, output.needsReopening { reopenAt = now }
    }
    #expect(attachAt == 3 * second)
    #expect(reopenAt == 12 * second + 50_000_000)
  }
}
