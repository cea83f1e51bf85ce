// SPDX-License-Identifier: Apache-2.0

import Geometry
import HeadTracking
import TestSupport
import Testing

@testable import BluetoothTracking

/// Decodes notifications of Bluetooth LE trackers: captures from public sources, and notifications
/// that are encoded here.
@Suite struct LowEnergyDecoderTests {
  private func head(_ readings: [TrackerReading]?) throws -> Quaternion {
    guard case .head(let sample)? = readings?.first else { throw NoHead() }
    return sample.headToWorld
  }

  private struct NoHead: Error {}

  // MARK: Waves Nx

  @Test("Captures of a Waves Nx decode to the angles that their source gives")
  func nxCaptures() throws {
    var nx = WavesNx(isCalibrated: false)
    let still = try head(nx.decode(hex("ffff 0000 ffff ff3f 0003"), arrival: 1))
    #expect(Quaternion.angle(between: still, .identity) < 0.001)
    let yaw = try head(nx.decode(hex("f1ff 1400 ff3f 2500 0003"), arrival: 2))
    #expect(abs(abs(YawPitchRoll(yaw).yaw) - 179.74) < 0.02)
    let pitch = try head(nx.decode(hex("7818 d6ff b4ff 223b 0003"), arrival: 3))
    #expect(abs(YawPitchRoll(pitch).pitch - 44.96) < 0.02)
    let roll = try head(nx.decode(hex("fcfb 9e36 5402 0921 0003"), arrival: 4))
    #expect(abs(YawPitchRoll(roll).roll - 117.68) < 0.3)
  }

  @Test("The capture of the other source decodes to the quaternion that it gives")
  func nxOtherCapture() throws {
    var nx = WavesNx(isCalibrated: true)
    let found = try head(nx.decode(hex("f5da 440a 2cf7 6732 0003"), arrival: 1))
    let raw = SIMD4(-0.579, 0.160, -0.138, 0.788)
    #expect(abs(found.w - raw[3]) < 2e-3 && abs(found.x - raw[1]) < 2e-3)
    #expect(abs(found.y + raw[0]) < 2e-3 && abs(found.z - raw[2]) < 2e-3)
  }

  @Test("A tracker worn the other way up is recognised, at the start and after three seconds")
  func nxForms() throws {
    let truth = YawPitchRoll(yaw: 30, pitch: 20, roll: -10).quaternion
    let second = Self.nx(r0: truth.w, r1: truth.z, r2: -truth.x, r3: truth.y)
    var nx = WavesNx(isCalibrated: false)
    #expect(try Quaternion.angle(between: head(nx.decode(second, arrival: 1)), truth) < 1e-3)
    let first = Self.nx(truth)
    var last: HeadSample?
    for step in 1...400 {
      guard case .head(let sample)? = nx.decode(first, arrival: Int64(step) * 10_000_000)?.first
      else { throw NoHead() }
      let isRight = Quaternion.angle(between: sample.headToWorld, truth) < 1e-3
      #expect(isRight == (step > 301))
      last = sample
    }
    #expect(last?.discontinuityCount == 1)
    // With a calibration, the form never changes.
    var calibrated = WavesNx(isCalibrated: true)
    for step in 1...400 {
      let found = try head(calibrated.decode(second, arrival: Int64(step) * 10_000_000))
      #expect(Quaternion.angle(between: found, truth) > 1)
    }
  }

  @Test func damagedNotificationsOfNxAreRejected() {
    var nx = WavesNx(isCalibrated: false)
    #expect(nx.decode([], arrival: 1) == nil)
    #expect(nx.decode(hex("ffff 0000 ffff ff3f 00"), arrival: 1) == nil)
    #expect(nx.decode(hex("ffff 0000 ffff ff1f 0003"), arrival: 1) == nil)
  }

  /// Encodes an orientation of the head as a Waves Nx that is worn in the first form.
  static func nx(_ head: Quaternion) -> [UInt8] {
    nx(r0: -head.y, r1: head.x, r2: head.z, r3: head.w)
  }

  private static func nx(r0: Double, r1: Double, r2: Double, r3: Double) -> [UInt8] {
    [r0, r1, r2, r3].flatMap { [UInt8].bytes(UInt16(bitPattern: Int16(($0 * 16384).rounded()))) }
      + [0, 3]
  }

  // MARK: WitMotion

  @Test("The published frame of a WitMotion decodes to its accelerations")
  func witFrame() throws {
    var wit = WitMotion()
    let frame = hex("5561 35ff 59ff 0a08 0000 0000 0000 b9fc 0000 0000")
    guard case .inertial(let sample)? = wit.decode(frame, arrival: 1)?.first else {
      throw NoHead()
    }
    let g = sample.specificForce / standardGravity
    // The sensor's x is right, its y is front.
    #expect(abs(g.x + 0.082) < 1e-3)
    #expect(abs(g.y - 0.099) < 1e-3)
    #expect(abs(g.z - 1.005) < 1e-3)
    #expect(sample.angularVelocity == .zero)
    // The angle that the tracker computed itself.
    let angle = Double(frame.i16(14)) * 180 / 32768
    #expect(abs(angle + 4.61) < 0.01)
  }

  @Test("The published answer with a quaternion decodes to its numbers")
  func witQuaternion() throws {
    let answer = hex("5571 5100 0040 0020 0010 0008")
    let found = try #require(WitMotion.quaternion(answer))
    #expect(found == Quaternion(w: 0.5, x: 0.25, y: 0.125, z: 0.0625))
    var wit = WitMotion()
    // Its norm is not 1, so it is no orientation.
    #expect(wit.decode(answer + [UInt8](repeating: 0, count: 8), arrival: 1) == [])
    let upright = hex("5571 5100 ff7f 0000 0000 0000") + [UInt8](repeating: 0, count: 8)
    #expect(try head(wit.decode(upright, arrival: 1)).w > 0.9999)
  }

  @Test("Frames that are split or merged in any way give the same readings")
  func witSplits() {
    let frames = (0..<40).map { Self.wit(force: SIMD3(0, 0.01 * Double($0), 1), rate: .zero) }
    let stream = frames.flatMap(\.self)
    func forces(_ pieces: [[UInt8]]) -> [SIMD3<Double>] {
      var wit = WitMotion()
      return pieces.flatMap { wit.decode($0, arrival: 1_000_000) ?? [] }.compactMap {
        if case .inertial(let sample) = $0 { sample.specificForce } else { nil }
      }
    }
    let expected = forces(frames)
    #expect(expected.count == 40)
    var generator = SeededGenerator(34)
    for _ in 0..<200 {
      var pieces: [[UInt8]] = []
      var rest = stream[...]
      while !rest.isEmpty {
        let count = min(rest.count, Int.random(in: 1...70, using: &generator))
        pieces.append(Array(rest.prefix(count)))
        rest = rest.dropFirst(count)
      }
      #expect(forces(pieces) == expected)
    }
    // The rest of a lost frame is skipped.
    #expect(forces([Array(frames[0].dropFirst(7)), frames[1]]) == [expected[1]])
  }

  /// Encodes a raw sample in the sensor's axes, in g and degrees/s.
  static func wit(force: SIMD3<Double>, rate: SIMD3<Double>) -> [UInt8] {
    func words(_ v: SIMD3<Double>, _ range: Double) -> [UInt8] {
      (0..<3).flatMap {
        [UInt8].bytes(UInt16(bitPattern: Int16((v[$0] / range * 32768).rounded())))
      }
    }
    return [0x55, 0x61] + words(force, 16) + words(rate, 2000) + [0, 0, 0, 0, 0, 0]
  }

  // MARK: Xsens DOT

  @Test("Notifications of a DOT decode to time, orientation and angular velocity")
  func dot() throws {
    let truth = YawPitchRoll(yaw: -70, pitch: 25, roll: 40).quaternion
    var dot = XsensDOT()
    var times: [Int64] = []
    for step in 0..<10 {
      let clock = UInt32.max - 50_000 &+ UInt32(step) * 16_667
      let bytes = Self.dot(clock, truth, rate: SIMD3(10, 20, -30))
      let readings = dot.decode(bytes, arrival: 1_000_000_000 + Int64(step) * 16_667_000)
      guard case .head(let sample)? = readings?.first else { throw NoHead() }
      times.append(sample.time)
      #expect(Quaternion.angle(between: sample.headToWorld, truth) < 1e-6)
      let rate = try #require(sample.angularVelocity) / radiansPerDegree
      #expect(abs(rate.x - 10) < 1e-4 && abs(rate.y - 20) < 1e-4 && abs(rate.z + 30) < 1e-4)
    }
    #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == 16_667_000 })
    let short = Array(Self.dot(0, truth, rate: .zero).prefix(20))
    #expect(try Quaternion.angle(between: head(dot.decode(short, arrival: 1)), truth) < 1e-6)
    #expect(dot.decode(Array(short.prefix(19)), arrival: 1) == nil)
    #expect(dot.decode(Self.dot(0, truth, rate: SIMD3(.nan, 0, 0)), arrival: 1) == nil)
    #expect(dot.decode([UInt8](repeating: 0xFF, count: 32), arrival: 1) == nil)
    #expect(dot.startWrites.map(\.bytes) == [[1, 1, 0x18]])
    #expect(dot.stopWrites.map(\.bytes) == [[1, 0, 0x18]])
  }

  /// Encodes a notification; the rate is in degrees/s.
  static func dot(_ clock: UInt32, _ q: Quaternion, rate: SIMD3<Double>) -> [UInt8] {
    let numbers = [q.w, q.x, q.y, q.z, rate.x, rate.y, rate.z]
    return [UInt8].bytes(clock) + numbers.flatMap { [UInt8].bytes(Float($0).bitPattern) }
  }
}
