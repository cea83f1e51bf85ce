// SPDX-License-Identifier: Apache-2.0

import Geometry
import TestSupport
import Testing

@testable import HeadTracking

/// Decodes documented and captured frames with the shipped profiles and with profiles that a user
/// could write.
@Suite struct ProfileVectorTests {
  private typealias Fixtures = ProfileFixtures

  private func quaternion(_ w: Double, _ x: Double, _ y: Double, _ z: Double) -> Quaternion {
    Quaternion(w: w, x: x, y: y, z: z).normalized
  }

  private func pose(_ yaw: Double, _ pitch: Double, _ roll: Double) -> Quaternion {
    YawPitchRoll(yaw: yaw, pitch: pitch, roll: roll).quaternion
  }

  @Test("nvsonic: the sample of its README")
  func nvsonic() throws {
    let text = "36;0.6035,-0.5409, 0.3667,-0.4568; 0.6035,-0.5409, 0.3667,-0.4568; 0.60"
    let heads = Fixtures.heads(try Fixtures.shipped("nvsonic"), Array(text.utf8))
    #expect(heads.count == 2)
    let wanted = quaternion(0.6035, 0.3667, 0.5409, -0.4568)
    for head in heads { #expect(Fixtures.degrees(head, wanted) < 0.01) }
  }

  @Test("Razor AHRS: the documented line; yaw is clockwise there")
  func razor() throws {
    let text = "\r\n#YPR=-142.28,-5.38,33.52\r\n"
    let heads = Fixtures.heads(try Fixtures.shipped("razor"), Array(text.utf8))
    #expect(heads.count == 1)
    #expect(heads.allSatisfy { Fixtures.degrees($0, pose(142.28, -5.38, 33.52)) < 0.01 })
  }

  @Test("Hatire: data frames are decoded, messages are not")
  func hatire() throws {
    func frame(_ code: UInt16) -> [UInt8] {
      let floats: [Float] = [30, 10, -20, 0, 0, 0]
      return [0xAA, 0xAA] + [UInt8].bytes(code)
        + floats.flatMap { [UInt8].bytes($0.bitPattern) } + [0x55, 0x55]
    }
    let profile = try Fixtures.shipped("hatire")
    let heads = Fixtures.heads(profile, frame(7) + frame(2000) + frame(8))
    #expect(heads.count == 2)
    #expect(heads.allSatisfy { Fixtures.degrees($0, pose(-30, 10, -20)) < 0.01 })
  }

  private func witFrame(_ kind: UInt8, _ values: [Int16]) -> [UInt8] {
    let numbers: [UInt8] = values.flatMap { value -> [UInt8] in .bytes(UInt16(bitPattern: value)) }
    let body: [UInt8] = [0x55, kind] + numbers
    return body + [body.reduce(0, &+)]
  }

  @Test("WitMotion serial: accelerometer and gyroscope frames together give a sample")
  func witMotion() throws {
    var stream = ProfileStream(try Fixtures.shipped("witmotion"))
    let bytes =
      witFrame(0x51, [2048, 0, 0, 0]) + witFrame(0x52, [0, 16384, 0, 0])
      + witFrame(0x53, [1, 2, 3, 4]) + witFrame(0x52, [0, 0, 0, 0])
      + witFrame(0x51, [0, 0, 2048, 0])
    let readings = stream.decode(bytes, arrival: 1_000_000_000).readings
    let samples = readings.compactMap { reading -> InertialSample? in
      if case .inertial(let sample) = reading { sample } else { nil }
    }
    #expect(samples.count == 2)
    // The sensor's x axis points to the right and its y axis to the front.
    let (force, rate) = (samples[0].specificForce, samples[0].angularVelocity)
    #expect(abs(force.y + standardGravity) < 1e-9 && abs(force.x) + abs(force.z) < 1e-9)
    #expect(abs(rate.x - 1000 * radiansPerDegree) < 1e-9 && abs(rate.y) + abs(rate.z) < 1e-9)
    #expect(abs(samples[1].specificForce.z - standardGravity) < 1e-9)
  }

  @Test("WitMotion serial: the quaternion; a frame with a wrong sum is skipped")
  func witQuaternion() throws {
    let good = witFrame(0x59, [16384, 8192, 4096, 2048])
    var bad = good
    bad[10] ^= 1
    let profile = try Fixtures.shipped("witmotion-quaternion")
    // The norm is too small for an orientation, so the numbers are doubled here.
    var doubled = profile
    for signal in TrackerProfile.Signal.quaternion {
      doubled.frames[0].signals[signal]?.scale *= 1.7
    }
    let heads = Fixtures.heads(doubled, bad + good)
    #expect(heads.count == 1)
    #expect(Fixtures.degrees(heads[0], quaternion(0.5, 0.125, -0.25, 0.0625)) < 0.01)
    #expect(Fixtures.heads(profile, good).isEmpty)
  }

  @Test("WitMotion over Bluetooth LE: captured accelerations and angles")
  func witLowEnergy() throws {
    let profile = try Fixtures.read(
      """
      { "schema": 1, "name": "wit", "link": "ble",
        "ble": { "name": "WT", "service": "0000FFE5", "notify": "0000ffe4", "write": "0000ffe9",
          "acknowledged": false },
        "frame": { "sync": "55 61", "length": 20 },
        "signals": {
          "forceX": { "byte": 2, "type": "i16", "scale": 0.00048828125 },
          "forceY": { "byte": 4, "type": "i16", "scale": 0.00048828125 },
          "forceZ": { "byte": 6, "type": "i16", "scale": 0.00048828125 },
          "rateX": { "byte": 8, "type": "i16" }, "rateY": { "byte": 10, "type": "i16" },
          "rateZ": { "byte": 12, "type": "i16" } },
        "start": { "bytes": ["FF AA 69 88 B5"] } }
      """)
    var stream = ProfileStream(profile)
    let packet = Fixtures.hex("5561 35ff 59ff 0a08 0000 0000 0000 b9fc 0000 0000")
    let found = stream.decode(packet, arrival: 1).readings
    guard case .inertial(let sample) = try #require(found.first) else { return }
    let wanted = SIMD3(-0.099, -0.082, 1.005)
    let error = sample.specificForce - wanted
    #expect((error * error).sum() < 1e-6)
  }

  @Test("MetaMotion: a captured quaternion in a notification")
  func metaMotion() throws {
    let profile = try Fixtures.read(
      """
      { "schema": 1, "name": "m", "link": "ble",
        "ble": { "name": "MetaWear", "notify": "326a9006" },
        "frames": [ { "when": { "0": "19", "1": "07" }, "signals": {
          "quaternionW": { "byte": 2, "type": "f32" }, "quaternionX": { "byte": 6, "type": "f32" },
          "quaternionY": { "byte": 10, "type": "f32" },
          "quaternionZ": { "byte": 14, "type": "f32" } } } ] }
      """)
    let heads = Fixtures.heads(
      profile, Fixtures.hex("1907 1b9b703f 8c5e4dbd 077f1dbe 78029abe"))
    #expect(
      Fixtures.degrees(try #require(heads.first), quaternion(0.940, -0.050, -0.154, -0.301)) < 0.1)
    #expect(
      Fixtures.heads(profile, Fixtures.hex("1908 1b9b703f 8c5e4dbd 077f1dbe 78029abe")).isEmpty)
  }

  @Test("BNO085 UART-RVC: the example of the data sheet")
  func bno085() throws {
    let frame = Fixtures.hex("AAAA DE 0100 92FF 2508 8DFE ECFF D103 000000 E7")
    let heads = Fixtures.heads(try Fixtures.shipped("bno085-rvc"), frame)
    #expect(Fixtures.degrees(try #require(heads.first), pose(0.01, 1.10, 20.85)) < 0.001)
  }

  @Test(
    "Supperware: 14-bit numbers in system-exclusive messages",
    arguments: [
      ("10 00 00 00 00 00 00 00", 0.0, 0.0, 0.0), ("0B 28 00 00 00 00 0B 28", 90.0, 0.0, 0.0),
      ("0F 3A 04 12 00 00 00 00", 0.0, 30.0, 0.0), ("0F 3A 00 00 04 12 00 00", 0.0, 0.0, 30.0),
    ])
  func supperware(_ numbers: String, _ yaw: Double, _ pitch: Double, _ roll: Double) throws {
    let signals = ["W", "X", "Y", "Z"].enumerated().map {
      "\"quaternion\($1)\": { \"byte\": \(6 + 2 * $0), "
        + "\"type\": \"i14be\", \"scale\": 4.8828125e-4 }"
    }
    let profile = try Fixtures.read(
      """
      { "schema": 1, "name": "s", "link": "midi", "midi": { "port": "Head Tracker" },
        "axes": "y,-x,z", "frame": { "sync": "F0 00 21 42 40 01", "length": 15 },
        "signals": { \(signals.joined(separator: ", ")) },
        "start": { "bytes": ["F0 00 21 42 00 00 28 01 05 03 40 F7"] } }
      """)
    let frame = Fixtures.hex("F0 00 21 42 40 01 \(numbers) F7")
    let heads = Fixtures.heads(profile, frame)
    #expect(Fixtures.degrees(try #require(heads.first), pose(yaw, pitch, roll)) < 0.1)
  }

  @Test("MIDI numbers: pi and -1 in both byte orders")
  func fourteenBits() {
    typealias Kind = TrackerProfile.NumberType
    #expect(Kind.i14be.value([0x32, 0x22], 0) == 6434)
    #expect(Kind.i14be.value([0x4D, 0x5E], 0) == -6434)
    #expect(Kind.i14be.value([0x70, 0x00], 0) == -2048)
    #expect(Kind.i14.value([0x00, 0x70], 0) == -2048)
    #expect(Kind.u14be.value([0x7F, 0x7F], 0) == 16383)
    #expect(Kind.u14be.value([0x80, 0x00], 0) == nil)
  }

  @Test("MrHeadTracker: controllers as pairs, in the inverse form")
  func controllers() throws {
    let profile = try Fixtures.read(
      """
      { "schema": 1, "name": "mr", "link": "midi", "midi": { "port": "MrHeadTracker" },
        "inverse": true, "frame": { "controllers": true, "gap": 1 },
        "signals": {
          "quaternionW": { "controller": 16, "low": 48, "scale": 1.220852e-4, "offset": -1 },
          "quaternionX": { "controller": 17, "low": 49, "scale": 1.220852e-4, "offset": -1 },
          "quaternionY": { "controller": 18, "low": 50, "scale": 1.220852e-4, "offset": -1 },
          "quaternionZ": { "controller": 19, "low": 51, "scale": 1.220852e-4, "offset": -1 } } }
      """)
    #expect(profile.controllerPairs.map(\.most) == [16, 17, 18, 19])
    var decoder = FrameDecoder(profile)
    let identity = Fixtures.hex("7F7E 3F7F 3F7F 3F7F")
    let found = Fixtures.heads(decoder.decode(identity, arrival: 1) ?? [])
    #expect(Fixtures.degrees(try #require(found.first), .identity) < 0.05)
    // 90 degrees to the right, because the device sends the scene's turn.
    let turned = Fixtures.hex("6D20 3F7F 3F7F 6D20")
    let right = Fixtures.heads(decoder.decode(turned, arrival: 2_000_000_000) ?? [])
    #expect(Fixtures.degrees(try #require(right.first), pose(-90, 0, 0)) < 0.5)
  }
}
