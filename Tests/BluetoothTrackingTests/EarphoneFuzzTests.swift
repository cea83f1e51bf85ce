// SPDX-License-Identifier: Apache-2.0

import CAllocationCounter
import Geometry
import Glibc
import HeadTracking
import System
import TestSupport
import Testing

@testable import BluetoothTracking

/// Frames of both protocols, damaged at random.
@Suite struct EarphoneFuzzTests {
  /// Frames of each protocol; the variable STILLSTAGE_FUZZ_FRAMES asks for another number.
  private static let count =
    getenv("STILLSTAGE_FUZZ_FRAMES").flatMap { Int(String(cString: $0)) } ?? 20_000
  /// Largest allocation for one frame, in bytes.
  private static let largestAllocation = 64 << 10

  private static let airPodsSeeds: [[UInt8]] =
    AirPodsVector.all.map { hex($0.packet) } + [
      AirPodsVector.firstReport, hex("04000400170000001000 0800 080D10034A020810"),
      hex("040004000400 03 02 01 64 02 01 04 01 5A 01 01 08 01 00 04 01"),
      SimulatedAirPods.ears(0, 1), hex("040004001D00 02D5000400 41424300 4170706C6500"),
      SimulatedAirPods.description(),
    ]

  private func mutated(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 0...6, using: &random) {
      guard !bytes.isEmpty else { break }
      let at = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<6, using: &random) {
      case 0: bytes[at] = .random(in: 0...255, using: &random)
      case 1: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 2: bytes.remove(at: at)
      case 3: bytes.insert(.random(in: 0...255, using: &random), at: at)
      case 4: bytes.removeLast(Int.random(in: 0...bytes.count / 2, using: &random))
      default: bytes[at] = [0, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
      }
    }
    return bytes
  }

  /// Passes a damaged packet to a protocol; returns the output and the largest allocation, in
  /// bytes.
  private func receive(
    _ host: inout some EarphoneProtocol, _ packet: [UInt8], _ now: Int64
  ) -> (output: EarphoneOutput, largest: Int) {
    operation_counter_start()
    let output = host.receive(packet, now: now) + host.advance(now: now)
    return (output, Int(operation_counter_stop().largest_allocation))
  }

  private func isSound(_ output: EarphoneOutput) -> Bool {
    output.readings.allSatisfy { reading in
      guard case .head(let sample) = reading else { return true }
      let norm = sample.headToWorld.squaredNorm
      let rate = sample.angularVelocity ?? .zero
      return abs(norm - 1) < 1e-6 && (rate * rate).sum().isFinite
    }
  }

  @Test("Damaged packets of AirPods never crash, and every pose is a rotation")
  func airPods() {
    var random = SeededGenerator.forTest()
    var host = AirPodsProtocol()
    var now: Int64 = 1_000_000_000
    _ = host.open(now: now)
    for _ in 0..<Self.count {
      now += Int64.random(in: 0...30_000_000, using: &random)
      let packet = mutated(Self.airPodsSeeds.randomElement(using: &random) ?? [], &random)
      let (output, largest) = receive(&host, packet, now)
      #expect(isSound(output) && largest <= Self.largestAllocation)
    }
  }

  @Test("Damaged streams of Galaxy Buds never crash, every pose is a rotation, and little is kept")
  func galaxyBuds() {
    var random = SeededGenerator.forTest()
    var host = GalaxyBudsProtocol()
    var now: Int64 = 1_000_000_000
    _ = host.open(now: now)
    for _ in 0..<Self.count {
      now += Int64.random(in: 0...30_000_000, using: &random)
      let frame = hex(GalaxyFrameTests.vectors.randomElement(using: &random)?.0 ?? "")
      let (output, largest) = receive(&host, mutated(frame, &random), now)
      #expect(isSound(output) && largest <= Self.largestAllocation)
    }
  }
}
