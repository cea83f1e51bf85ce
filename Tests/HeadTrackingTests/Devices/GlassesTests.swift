// SPDX-License-Identifier: Apache-2.0

import Geometry
import TestSupport
import Testing

@testable import HeadTracking

/// Commands and reports of AR glasses that the virtual devices of `VirtualSensorTests` do not show.
@Suite struct GlassesTests {
  private func bytes(_ text: String, paddedTo length: Int = 0) -> [UInt8] {
    let bytes = text.split(separator: " ").compactMap { UInt8($0, radix: 16) }
    return bytes + [UInt8](repeating: 0, count: max(0, length - bytes.count))
  }

  private func node(_ product: UInt16, interface: Int, serial: String = "A") -> HIDNode {
    HIDNode(
      path: "/dev/hidraw\(interface)", vendorID: 0x35CA, productID: product, serial: serial,
      manufacturer: "", product: "", bus: .usb, interface: interface, usages: [])
  }

  @Test func commandsOfVITUREMatchTheKnownBytes() {
    #expect(VITURESensor.packet(0x0301, [2, 2]) == bytes("10 00 01 03 02 00 04 00 02 02"))
    #expect(VITURESensor.packet(0x0301, [0, 0]) == bytes("10 00 01 03 02 00 00 00 00 00"))
    let zeros = " 00 00 00 00 00 00 00 00"
    #expect(
      VITUREPose.command(0x15, [1])
        == bytes("FF FE 27 25 0D 00\(zeros) 15 00 00 00 01", paddedTo: 64))
    #expect(
      VITUREPose.command(0x15, [0])
        == bytes("FF FE 06 35 0D 00\(zeros) 15 00 00 00 00", paddedTo: 64))
  }

  @Test func theInterfaceOfVITUREWithTheLowestNumberIsTheTracker() throws {
    let nodes = [node(0x1201, interface: 2), node(0x1201, interface: 0)]
    #expect(throws: HeadTrackingError.self) { try VITURESensor(nodes[0], among: nodes) }
    _ = try VITURESensor(nodes[1], among: nodes)
    let other = node(0x1201, interface: 0, serial: "B")
    _ = try VITURESensor(nodes[0], among: [nodes[0], other])
  }

  @Test func aRayNeoBoardWithAnUnknownLayoutIsRefused() throws {
    for (board, isKnown) in [(0x22, false), (0x34, false), (0x36, true)] as [(UInt8, Bool)] {
      var answer = bytes("99 C8", paddedTo: 64)
      answer[21] = board
      var driver = RayNeo()
      if isKnown {
        try driver.start(SimulatedLink([answer]))
      } else {
        #expect(throws: HeadTrackingError.self) { try driver.start(SimulatedLink([answer])) }
      }
    }
  }

  @Test func aPacketOfVITUREWithAWrongSumIsRejected() throws {
    let alone = node(0x1201, interface: 0)
    var driver = try VITURESensor(alone, among: [alone])
    var body = [UInt8](repeating: 0, count: 49)
    body[33] = 0x41
    var packet = VITURESensor.packet(0x7309, body)
    #expect(driver.decode(packet, arrival: 1_000_000)?.count == 1)
    packet[6] ^= 1
    #expect(driver.decode(packet, arrival: 2_000_000) == nil)
    #expect(driver.decode(Array(packet.prefix(20)), arrival: 2_000_000) == nil)
    #expect(driver.decode(VITURESensor.packet(0x4301, [0]), arrival: 3_000_000) == [])
  }

  @Test func theTwoReportsOfARokidSampleBecomeOneReading() {
    var driver = Rokid()
    func report(_ sensor: UInt8, _ microseconds: UInt32, _ values: [Float]) -> [UInt8] {
      var report = [UInt8](repeating: 0, count: 64)
      report[0] = 4
      report[1] = sensor
      report.replaceSubrange(9..<13, with: [UInt8].bytes(microseconds))
      let numbers = values.flatMap { [UInt8].bytes($0.bitPattern) }
      report.replaceSubrange(21..<33, with: numbers)
      return report
    }
    #expect(driver.decode(report(1, 500, [0, 9.8, 0]), arrival: 1_000_000) == [])
    // The rate of an older sample has no counterpart.
    #expect(driver.decode(report(2, 400, [9, 9, 9]), arrival: 1_000_000) == [])
    #expect(driver.decode(report(3, 500, [30, 0, 0]), arrival: 1_000_000) == [])
    let readings = driver.decode(report(2, 500, [1, 2, 3]), arrival: 1_000_000) ?? []
    guard case .inertial(let sample) = readings.first, readings.count == 1 else {
      Issue.record("\(readings)")
      return
    }
    #expect(sample.angularVelocity == SIMD3(-3, -1, 2))
    #expect(abs(sample.specificForce.z - 9.8) < 1e-6)
    #expect(driver.decode(report(4, 500, [1, 2, 3]), arrival: 1_000_000) == nil)
    #expect(driver.decode([0x02, 0, 0], arrival: 1_000_000) == [])
    #expect(driver.decode(report(1, 900, [.nan, 0, 0]), arrival: 2_000_000) == [])
    #expect(driver.decode(report(2, 900, [1, 2, 3]), arrival: 2_000_000) == nil)
  }

  @Test func severalSamplesOfARokidMax2InOneReportAreAllDecoded() {
    var driver = RokidMax2()
    var report: [UInt8] = []
    for microseconds in [1000, 2000, 3000] as [UInt32] {
      var sample = [UInt8](repeating: 0, count: 64)
      sample[0] = 0x11
      sample.replaceSubrange(1..<5, with: [UInt8].bytes(microseconds))
      sample.replaceSubrange(16..<20, with: [UInt8].bytes(Float(1).bitPattern))
      report += sample
    }
    let readings = driver.decode(report, arrival: 10_000_000) ?? []
    let times = readings.compactMap { reading -> Int64? in
      guard case .inertial(let sample) = reading else { return nil }
      #expect(abs(sample.specificForce.z - standardGravity) < 1e-6)
      return sample.time
    }
    #expect(times.count == 3)
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
  }
}
