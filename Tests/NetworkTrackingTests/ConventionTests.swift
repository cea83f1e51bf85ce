// SPDX-License-Identifier: Apache-2.0

import Geometry
import TestSupport
import Testing

@testable import NetworkTracking

/// Checks the sign conventions: against the rotation matrices of the programs, and in both
/// directions.
@Suite struct ConventionTests {
  static let heads = [
    (0.0, 0.0, 0.0), (30, 0, 0), (0, 20, 0), (0, 0, 15), (-100, 35, -20), (170, -60, 80),
  ].map { YawPitchRoll(yaw: $0.0, pitch: $0.1, roll: $0.2).quaternion }

  @Test(arguments: OSCPreset.allCases)
  func messagesRoundTripThroughTheReceiver(preset: OSCPreset) throws {
    for head in Self.heads {
      var receiver = OSCHead(preset)
      let received = receiver.take(preset.message(for: head))
      let decoded = try #require(received)
      #expect(Quaternion.angle(between: head, decoded) < 1e-9)
    }
  }

  /// Returns the direction of a scene's vector relative to the head.
  private func scene(_ head: Quaternion, _ v: SIMD3<Double>) -> SIMD3<Double> {
    head.conjugate.rotate(v)
  }

  private static let axes = [SIMD3<Double>(1, 0, 0), SIMD3(0, 1, 0), SIMD3(0, 0, 1)]
  private typealias Matrix = [SIMD3<Double>]

  private func product(_ a: Matrix, _ b: Matrix) -> Matrix {
    (0..<3).map { row in
      SIMD3((0..<3).map { column in (0..<3).reduce(0.0) { $0 + a[row][$1] * b[$1][column] } })
    }
  }

  /// Returns a rotation matrix by rows; `sign` +1 rotates vectors, -1 rotates axes.
  private func turn(_ axis: Int, _ degrees: Double, sign: Double) -> Matrix {
    let angle = degrees / degreesPerRadian
    let q = Quaternion(rotationVector: Self.axes[axis] * (angle * sign))
    let columns = Self.axes.map(q.rotate)
    return (0..<3).map { row in SIMD3(columns[0][row], columns[1][row], columns[2][row]) }
  }

  private func expectScene(_ matrix: Matrix, _ head: Quaternion) {
    for axis in Self.axes {
      let turned = SIMD3(matrix.map { ($0 * axis).sum() })
      let difference = turned - scene(head, axis)
      #expect((difference * difference).sum() < 1e-12)
    }
  }

  @Test func spartaTurnsTheSceneAgainstTheHead() {
    for head in Self.heads {
      let n = OSCPreset.sparta.message(for: head).numbers
      // The matrix of SPARTA is Rx(roll) Ry(pitch) Rz(yaw), each of which rotates the axes.
      let matrix = product(
        turn(0, n[2], sign: -1), product(turn(1, n[1], sign: -1), turn(2, n[0], sign: -1)))
      expectScene(matrix, head)
    }
  }

  @Test func sceneRotatorTurnsTheSceneAgainstTheHead() {
    for head in Self.heads {
      let n = OSCPreset.iemAngles.message(for: head).numbers
      // The SceneRotator applies yaw, then pitch, then roll about fixed axes.
      let matrix = product(
        turn(0, n[2], sign: 1), product(turn(1, n[1], sign: 1), turn(2, n[0], sign: 1)))
      expectScene(matrix, head)
      let q = OSCPreset.iem.message(for: head).numbers
      let rotation = Quaternion(w: q[0], x: q[1], y: q[2], z: q[3])
      for axis in Self.axes {
        let difference = rotation.rotate(axis) - scene(head, axis)
        #expect((difference * difference).sum() < 1e-12)
      }
    }
  }

  @Test func yawToTheLeftIsPositiveForSpartaAndNegativeForSceneRotator() {
    let left = YawPitchRoll(yaw: 30).quaternion
    #expect(abs(OSCPreset.ypr.message(for: left).numbers[0] - 30) < 1e-9)
    #expect(abs(OSCPreset.sparta.message(for: left).numbers[0] - 30) < 1e-9)
    #expect(abs(OSCPreset.iemAngles.message(for: left).numbers[0] + 30) < 1e-9)
    let up = YawPitchRoll(pitch: 20).quaternion
    #expect(abs(OSCPreset.sparta.message(for: up).numbers[1] + 20) < 1e-9)
  }

  @Test func anglesMayArriveInSeparateMessages() throws {
    var receiver = OSCHead(.sparta)
    _ = receiver.take(OSCMessage("/yaw", [40]))
    _ = receiver.take(OSCMessage("/pitch", [-10]))
    let received = receiver.take(OSCMessage("/roll", [5]))
    let head = try #require(received)
    let wanted = YawPitchRoll(yaw: 40, pitch: 10, roll: 5).quaternion
    #expect(Quaternion.angle(between: head, wanted) < 1e-9)
  }

  @Test func invalidMessagesAreRejected() {
    var receiver = OSCHead(.ypr)
    for message in [
      OSCMessage("/ypr", [1, 2]), OSCMessage("/ypr", [.nan, 0, 0]), OSCMessage("/volume", [1]),
      OSCMessage("/quaternion", [0, 0, 0, 0]), OSCMessage("/yaw", [1e9]), OSCMessage("", []),
    ] {
      #expect(receiver.take(message) == nil)
    }
    var scene = OSCHead(.iem)
    #expect(scene.take(OSCMessage("/ypr", [1, 2, 3])) == nil)
  }

  @Test func randomDatagramsYieldUnitQuaternionsOrNothing() {
    var random = SeededGenerator.forTest()
    var generator = SeededGenerator.forTest()
    for _ in 0..<20_000 {
      let bytes = (0..<Int.random(in: 0...70, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      for head in [AngleDatagram.opentrack(bytes, .rightUp), AngleDatagram.freepie(bytes, .leftUp)]
      {
        #expect(head.map { abs($0.squaredNorm - 1) < 1e-9 } ?? true)
      }
    }
  }

  @Test func trackerAddressesAreParsed() throws {
    #expect(try NetworkTracker("osc:9000") == NetworkTracker(.osc(.ypr), port: 9000))
    #expect(try NetworkTracker("osc:9000:iem") == NetworkTracker(.osc(.iem), port: 9000))
    #expect(
      try NetworkTracker("osc:9000", preset: "sparta") == NetworkTracker(.osc(.sparta), port: 9000))
    #expect(
      try NetworkTracker("opentrack:4242:left-down")
        == NetworkTracker(.opentrack(.leftDown), port: 4242))
    #expect(try NetworkTracker("freepie:5555") == NetworkTracker(.freepie(.rightUp), port: 5555))
    #expect(try NetworkTracker("/dev/hidraw0") == nil)
    #expect(try NetworkTracker("osc") == nil)
    #expect(throws: NetworkTrackerError.self) { try NetworkTracker("osc:9000:logic") }
  }

  @Test(arguments: [
    ("osc:9000", ListeningAddress.loopback), ("osc:any:9000", .any), ("osc:any:9000:iem", .any),
    ("osc:192.168.1.5:9000:iem", .address("192.168.1.5")),
    ("osc:[::1]:9000", .address("::1")), ("osc:[fe80::1]:9000:sparta", .address("fe80::1")),
  ])
  func addressToListenOnIsParsed(text: String, address: ListeningAddress) throws {
    let tracker = try #require(try NetworkTracker(text))
    #expect(tracker.address == address && tracker.port == 9000)
    let sender = text.split(separator: ":").last.flatMap { OSCPreset(rawValue: String($0)) }
    #expect(tracker.sender == .osc(sender ?? .ypr))
  }

  @Test(arguments: [
    "osc:", "osc:0", "osc:99999", "osc:x", "opentrack:1:2:3", "osc:any", "osc:any:", "osc:any:0",
    "osc:localhost:9000", "osc:1.2.3:9000", "osc:::1:9000", "osc:[::1]9000", "osc:[::1]",
    "osc:[1.2.3.4]:9000", "osc:[::1", "osc:256.0.0.1:9000", "freepie:any:any:5555", "osc:+9000",
  ])
  func invalidAddressesAreRefused(text: String) {
    #expect(throws: NetworkTrackerError.badAddress(text)) { try NetworkTracker(text) }
  }

  @Test func noteAboutSilenceSaysWhatToDo() throws {
    #expect(
      try NetworkTracker("osc:9000")?.silenceNote
        == "nothing has arrived at 127.0.0.1:9000; to receive from a phone or another computer, "
        + "use osc:any:9000")
    #expect(
      try NetworkTracker("freepie:5555")?.silenceNote.hasSuffix("use freepie:any:5555") == true)
    // A preset other than the default is part of the address to use.
    for text in ["osc:9000:iem", "opentrack:4242:left-down"] {
      let note = try #require(try NetworkTracker(text)?.silenceNote)
      let proposed = try #require(note.split(separator: " ").last.map(String.init))
      #expect(try NetworkTracker(proposed)?.sender == NetworkTracker(text)?.sender)
      #expect(try NetworkTracker(proposed)?.address == .any)
    }
    #expect(
      try NetworkTracker("osc:[::1]:9000")?.silenceNote.hasPrefix(
        "nothing has arrived at [::1]:9000; check") == true)
  }

  /// Compares the decoder with packets that are built here from the specification.
  @Test func packetsAndBundlesAreDecoded() {
    func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
      withUnsafeBytes(of: number.bigEndian, Array.init)
    }
    func message(_ text: String, _ arguments: [UInt8] = []) -> [UInt8] {
      Array(text.utf8) + arguments
    }
    func bundle(_ parts: [[UInt8]]) -> [UInt8] {
      Array("#bundle\0".utf8) + bytes(UInt64(1))
        + parts.flatMap { bytes(UInt32($0.count)) + $0 }
    }
    let angles = message(
      "/ypr\0\0\0\0,fdi\0\0\0\0",
      bytes(Float(1.5).bitPattern) + bytes((-2.25).bitPattern) + bytes(Int32(-7)))
    let yaw = message("/yaw\0\0\0\0,h\0\0", bytes(Int64(-3)))
    let wanted = OSCMessage("/ypr", [1.5, -2.25, -7])
    #expect(OSCPacket.messages(angles) == [wanted])
    #expect(
      OSCPacket.messages(bundle([angles, bundle([yaw])])) == [wanted, OSCMessage("/yaw", [-3])])
    #expect(OSCPacket.messages(bundle([])) == [])
    let blob: [UInt8] = [0, 0, 0, 5, 1, 2, 3, 4, 5, 0, 0, 0]
    let mixed = message("/a\0\0,sTbf\0\0\0x\0\0\0", blob + [0, 0, 0, 0])
    let numbers = OSCPacket.messages(mixed)?.first?.numbers ?? []
    #expect(numbers.count == 4 && numbers.prefix(3).allSatisfy(\.isNaN) && numbers.last == 0)
    for end in 0..<angles.count { #expect(OSCPacket.messages(Array(angles[..<end])) == nil) }
    for wrong in ["ypr\0,f\0\0\0\0\0\0", "/a\0\0f\0\0\0", "/a\0\0,z\0\0", "#bundle\0"] {
      #expect(OSCPacket.messages(Array(wrong.utf8)) == nil)
    }
    // Nesting and the number of messages are limited.
    #expect(OSCPacket.messages((0..<20).reduce(angles) { inner, _ in bundle([inner]) }) == nil)
    #expect(OSCPacket.messages(bundle(Array(repeating: yaw, count: 300))) == nil)
  }

  @Test func randomPacketsAreDecodedOrRefused() {
    var random = SeededGenerator.forTest()
    let start =
      Array("#bundle\0".utf8) + [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 28]
      + Array("/ypr\0\0\0\0,fff\0\0\0\0".utf8)
    for _ in 0..<50_000 {
      var bytes = start + (0..<12).map { _ in UInt8.random(in: 0...255, using: &random) }
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        bytes[place] = .random(in: 0...255, using: &random)
      }
      let messages = OSCPacket.messages(Array(bytes.prefix(.random(in: 0...60, using: &random))))
      #expect((messages ?? []).allSatisfy { $0.numbers.count <= 16 })
    }
  }
}
