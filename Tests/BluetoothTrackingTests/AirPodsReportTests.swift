// SPDX-License-Identifier: Apache-2.0

import Geometry
import Testing

@testable import BluetoothTracking

@Suite struct AirPodsReportTests {
  private func reports(_ packet: [UInt8]) -> [(service: UInt64, report: MotionReport)] {
    (SensorFrame.items(packet) ?? []).compactMap { item in
      guard case .report(let service, let bytes) = item else { return nil }
      return MotionReport(bytes).map { (service, $0) }
    }
  }

  @Test("Captured reports decode to their published values", arguments: AirPodsVector.all)
  func captured(_ vector: AirPodsVector) {
    let found = reports(hex(vector.packet))
    #expect(found.count == vector.quaternions.count)
    for (index, (service, report)) in found.enumerated() {
      let q = report.orientation
      #expect(service == vector.service)
      for (value, wanted) in zip([q.x, q.y, q.z, q.w], vector.quaternions[index]) {
        #expect(abs(value - wanted) < 1e-4)
      }
      for (value, wanted) in zip((0..<3).map { report.angularVelocity[$0] }, vector.rate ?? []) {
        #expect(abs(value - wanted) < 1e-4)
      }
      for (value, wanted) in zip((0..<3).map { report.gravity[$0] }, vector.gravity ?? []) {
        #expect(abs(value - wanted) < 1e-3)
      }
      if let wanted = vector.microseconds { #expect(report.microseconds == wanted) }
      if !vector.counters.isEmpty { #expect(report.counter == vector.counters[index]) }
      #expect(report.tiltError < 2.5 * .pi / 180)
    }
  }

  @Test("Three reports of one packet are 40145 us apart")
  func spacing() throws {
    let vector = try #require(AirPodsVector.all.first { $0.quaternions.count == 3 })
    let times = reports(hex(vector.packet)).map(\.report.microseconds)
    #expect(zip(times.dropFirst(), times).map { $0 - $1 } == [40145, 40145])
  }

  @Test("The first report after a start disagrees with gravity by 72 degrees")
  func firstReport() throws {
    let report = try #require(reports(AirPodsVector.firstReport).first?.report)
    #expect(abs(report.tiltError * 180 / .pi - 72) < 1)
  }

  @Test("A report that is short, marked invalid, of another version or no rotation is refused")
  func refused() throws {
    let packet = hex(AirPodsVector.all[0].packet)
    let good = Array(packet.suffix(58))
    #expect(MotionReport(good[...]) != nil)
    #expect(MotionReport(good[..<55]) == nil)
    for (offset, value): (Int, UInt8) in [(0, 2), (9, 2), (9, 7), (10, 0x84)] {
      var bad = good
      bad[offset] = value
      #expect(MotionReport(bad[...]) == nil, "byte \(offset) = \(value)")
    }
    var long = good
    for offset in 20..<26 { long[offset] = 0x7F }
    #expect(MotionReport(long[...]) == nil)
  }

  @Test("Versions 4 to 6 are two bytes shorter and have a narrow counter")
  func laterVersions() throws {
    var bytes = Array(hex(AirPodsVector.all[0].packet).suffix(58))
    for version in UInt8(4)...6 {
      bytes[9] = version
      let report = try #require(MotionReport(bytes[..<56]))
      #expect(report.counter == 889 && report.version == version)
    }
  }

  @Test("Acknowledgement, readiness and the list of processors are no reports")
  func otherFrames() {
    let acknowledgement = hex("04000400170000001000 0800 080D10034A020810")
    #expect(SensorFrame.items(acknowledgement) == [.acknowledged(service: 16)])
    let ready = hex("0400040017000000100008000803100162020810")
    #expect(SensorFrame.items(ready) == [.ready(service: 16)])
    #expect(SensorFrame.items(hex("0400040017000000040000340006")) == nil)
  }

  @Test("Two frames in one packet are both read")
  func twoFrames() {
    let first = hex(AirPodsVector.all[0].packet)
    let second = hex(AirPodsVector.all[1].packet)
    #expect(reports(first + second).map(\.report.counter) == [889, 897])
  }

  @Test(
    "A request has the bytes of the captured ones",
    arguments: [
      (16, 40000, 0x73, "0F0008 73 420B08 10 10021A0501 409C0000"),
      (16, 20000, 0x93, "100008 9301 420B08 10 10021A0501 204E0000"),
      (16, 0, 0x75, "0F0008 75 420B08 10 10021A0501 00000000"),
      (14, 40000, 0x121, "100008 A102 420B08 0E 10021A0501 409C0000"),
    ] as [(UInt64, UInt32, UInt64, String)])
  func request(service: UInt64, interval: UInt32, sequence: UInt64, bytes: String) {
    let request = SensorFrame.request(
      service: service, intervalMicroseconds: interval, sequence: sequence)
    #expect(request == hex("04000400170000001000" + bytes))
  }
}

@Suite struct ProtobufFieldsTests {
  @Test("A varint of more than 64 bits, a length beyond the end and a group end the message")
  func malformed() {
    #expect(Array(ProtobufFields(hex("08 FFFFFFFFFFFFFFFFFF02")[...])).isEmpty)
    #expect(Array(ProtobufFields(hex("08 FFFFFFFFFFFFFFFFFFFF01")[...])).isEmpty)
    #expect(Array(ProtobufFields(hex("1A 05 0102")[...])).isEmpty)
    #expect(Array(ProtobufFields(hex("1A FFFFFFFFFFFFFFFFFF01 00")[...])).isEmpty)
    #expect(Array(ProtobufFields(hex("0B 08 01 0C")[...])).isEmpty)
    #expect(Array(ProtobufFields(hex("00 01")[...])).isEmpty)
  }

  @Test("Fields before the malformed one are read")
  func prefix() {
    let fields = Array(ProtobufFields(hex("08 7F 10 8001 1A 02 AABB 1A 05 01")[...]))
    #expect(
      fields == [
        ProtobufFields.Field(number: 1, value: .varint(127)),
        ProtobufFields.Field(number: 2, value: .varint(128)),
        ProtobufFields.Field(number: 3, value: .bytes([0xAA, 0xBB])),
      ])
  }

  @Test("Every number survives encoding and decoding")
  func roundTrip() {
    for number in [0, 1, 127, 128, 16383, 16384, UInt64(UInt32.max), .max] {
      #expect(ProtobufFields(([0x08] + varint(number))[...]).number(1) == number)
    }
  }
}

@Suite struct SensorDescriptionTests {
  /// A description with the two properties that are read, in the form of the captured ones.
  private func properties(_ mounting: String) -> [UInt8] {
    let key = Array("H2HTransformation".utf8)
    return hex("D3000000 02 0000") + Array("AccessoryService".utf8) + hex("0A000009")
      + Array("devmotion6".utf8) + hex("1100 000009") + key + hex("010000 0800000A")
      + hex(mounting)
  }

  @Test("The captured mounting of Pro 3 is (0.6313, -0.1628, -0.6467, 0.3960)")
  func captured() throws {
    let blob = properties("CC502AEB3BADAF32")
    #expect(SensorDescription.isMotion(blob[...]))
    let turn = try #require(SensorDescription.mounting(blob[...]))
    for (value, wanted) in zip(
      [turn.x, turn.y, turn.z, turn.w], [0.6313, -0.1628, -0.6467, 0.3960])
    {
      #expect(abs(value - wanted) < 1e-4)
    }
  }

  @Test("The axes x right, y back, z down become x front, y left, z up")
  func axes() {
    let turn = SensorDescription.sensorToHead(.identity)
    func near(_ v: SIMD3<Double>, _ wanted: SIMD3<Double>) -> Bool {
      ((v - wanted) * (v - wanted)).sum() < 1e-12
    }
    #expect(near(turn.rotate(SIMD3(1, 0, 0)), SIMD3(0, -1, 0)))
    #expect(near(turn.rotate(SIMD3(0, 1, 0)), SIMD3(-1, 0, 0)))
    #expect(near(turn.rotate(SIMD3(0, 0, 1)), SIMD3(0, 0, -1)))
  }

  @Test("A property that is cut off, or no rotation, is ignored")
  func invalid() {
    let blob = properties("CC502AEB3BADAF32")
    for count in 0..<blob.count { #expect(SensorDescription.mounting(blob[..<count]) == nil) }
    #expect(SensorDescription.mounting(properties("FF7FFF7FFF7FFF7F")[...]) == nil)
  }
}
