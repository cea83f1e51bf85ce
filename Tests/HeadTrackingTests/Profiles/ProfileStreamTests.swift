// SPDX-License-Identifier: Apache-2.0

import Geometry
import Glibc
import System
import TestSupport
import Testing

@testable import HeadTracking

/// Streams of frames under the conventions that a profile can state.
@Suite struct ProfileStreamTests {
  private typealias Fixtures = ProfileFixtures

  @Test(
    "Frames that are split or merged in any way give the same poses",
    arguments: ["nvsonic", "bno085-rvc"])
  func splits(name: String) throws {
    var generator = SeededGenerator(34)
    let bytes = (0..<60).flatMap { step -> [UInt8] in
      let angle = Double(step) * 0.02
      if name == "nvsonic" {
        return Array("\(Self.text(cos(angle))), 0.0000,-0.0000,\(Self.text(sin(angle)));".utf8)
      }
      let body =
        [UInt8(step)] + [UInt8].bytes(UInt16(step * 100)) + [UInt8](repeating: 0xAA, count: 13)
      return [0xAA, 0xAA] + body + [body.reduce(0, &+)]
    }
    let profile = try Fixtures.shipped(name)
    let first: [UInt8] = name == "nvsonic" ? [0x3B] : []
    let whole = Fixtures.heads(profile, first + bytes)
    #expect(whole.count == 60)
    for _ in 0..<50 {
      var stream = ProfileStream(profile)
      var (heads, rejected) = ([Quaternion](), 0)
      var rest = (first + bytes)[...]
      while !rest.isEmpty {
        let count = min(rest.count, Int.random(in: 1...90, using: &generator))
        let news = stream.decode(Array(rest.prefix(count)), arrival: 1_000_000_000)
        heads += Fixtures.heads(news.readings)
        rejected += news.rejectedCount
        rest = rest.dropFirst(count)
      }
      #expect(heads == whole && rejected == 0)
    }
  }

  private static func text(_ value: Double) -> String {
    let units = Int((abs(value) * 10000).rounded())
    let digits = String(units % 10000)
    return (value < 0 ? "-" : " ") + "\(units / 10000)."
      + String(repeating: "0", count: 4 - digits.count) + digits
  }

  @Test("Noise between frames is counted once, and the next frame is found")
  func noise() throws {
    let profile = try Fixtures.shipped("bno085-rvc")
    let frame = Fixtures.hex("AAAA DE 0100 92FF 2508 8DFE ECFF D103 000000 E7")
    var stream = ProfileStream(profile)
    #expect(stream.decode([1, 2, 0xAA] + frame, arrival: 1).readings.count == 1)
    let news = stream.decode([0xAA, 7, 0xAA, 0xAA, 9] + frame + frame, arrival: 2)
    #expect(news.readings.count == 2 && news.rejectedCount == 1)
    let long = stream.decode([UInt8](repeating: 0xAA, count: 100_000), arrival: 3)
    #expect(long.readings.isEmpty && long.rejectedCount == 1)
    var splitter = FrameSplitter(.text(separator: 0x0A))
    _ = splitter.take([0x0A])
    #expect(splitter.take([UInt8](repeating: 0x41, count: 100_000)).rejectedCount == 1)
    #expect(splitter.rest.isEmpty)
  }

  /// A head and how a device reports it.
  private func reported(
    _ head: Quaternion, mount: Quaternion, axes: String, isInverse: Bool
  ) throws -> [UInt8] {
    // The head's turn as the sensor sees it, in the sensor's own axes.
    var turn = head * mount
    if isInverse { turn = turn.conjugate }
    let map = try AxisMap(axes)
    let v = SIMD3(turn.x, turn.y, turn.z)
    var sensor = SIMD3<Double>.zero
    for axis in 0..<3 {
      var unit = SIMD3<Double>.zero
      unit[axis] = 1
      sensor[axis] = (map.apply(unit) * v).sum()
    }
    return [0xA5]
      + [turn.w, sensor.x, sensor.y, sensor.z].flatMap { number -> [UInt8] in
        let bits = UInt16(bitPattern: Int16((number * 32000).rounded()))
        return [UInt8(bits >> 8), UInt8(bits & 255)]
      }
  }

  @Test("Axes, mount and inverse are undone: the pose is within 0.2 degrees of the head")
  func conventions() throws {
    var generator = SeededGenerator(5)
    for axes in ["x,y,z", "y,-x,z", "-z,-x,y"] {
      for isInverse in [false, true] {
        let mount = YawPitchRoll(yaw: 30, pitch: -50, roll: 100).quaternion
        let signals = ["W", "X", "Y", "Z"].enumerated().map {
          "\"quaternion\($1)\": { \"byte\": \(1 + 2 * $0), "
            + "\"type\": \"i16be\", \"scale\": 3.125e-5 }"
        }
        let numbers = [mount.w, mount.x, mount.y, mount.z].map { "\($0)" }
        let profile = try Fixtures.read(
          """
          { "schema": 1, "name": "q", "link": "serial", "axes": "\(axes)",
            "inverse": \(isInverse), "mount": [\(numbers.joined(separator: ","))],
            "frame": { "sync": "A5", "length": 11, "checksum": "crc16-xmodem" },
            "signals": { \(signals.joined(separator: ",")) } }
          """)
        for _ in 0..<20 {
          let head = randomTurn(using: &generator)
          let body = try reported(head, mount: mount, axes: axes, isInverse: isInverse)
          let sum = CRC16XMODEM.of(body[...])
          let heads = Fixtures.heads(profile, body + [UInt8(sum >> 8), UInt8(sum & 255)])
          #expect(Fixtures.degrees(try #require(heads.first), head) < 0.2)
          #expect(Fixtures.heads(profile, body + [UInt8(sum & 255), UInt8(sum >> 8) ^ 1]).isEmpty)
        }
      }
    }
  }

  @Test("Angles in both orders", arguments: TrackerProfile.AngleOrder.allCases)
  func orders(order: TrackerProfile.AngleOrder) throws {
    let profile = try Fixtures.read(
      """
      { "schema": 1, "name": "a", "link": "udp", "udp": { "port": 9 },
        "order": "\(order.rawValue)", "frame": { "text": "Y {yaw} P {pitch} R {roll}" },
        "signals": { "yaw": { "name": "yaw", "unit": "degrees" },
          "pitch": { "name": "pitch", "unit": "degrees" },
          "roll": { "name": "roll", "unit": "degrees" } } }
      """)
    let heads = Fixtures.heads(profile, Array("Y40.5 P -20e0  R+10\r\n".utf8))
    func turn(_ x: Double, _ y: Double, _ z: Double) -> Quaternion {
      Quaternion(rotationVector: SIMD3(x, y, z) * radiansPerDegree)
    }
    let (yaw, pitch, roll) = (turn(0, 0, 40.5), turn(0, 20, 0), turn(10, 0, 0))
    let wanted = order == .zyx ? yaw * pitch * roll : yaw * roll * pitch
    #expect(Fixtures.degrees(try #require(heads.first), wanted) < 1e-6)
  }

  @Test("Patterns accept only the whole text, and no infinite or endless numbers")
  func patterns() throws {
    for bad in ["", "w,x", "{w}{x}", "{}", "{w},{w}", "{w", "w}", "{w},}"] {
      #expect(TextPattern(bad) == nil, "\(bad)")
    }
    let pattern = try #require(TextPattern("#{_}: {a} {b},"))
    #expect(pattern.names == ["a", "b"])
    let text = { (text: String) in pattern.numbers(in: Array(text.utf8)) }
    #expect(text("#1:-.5 +2.e1,") == ["a": -0.5, "b": 20, "_": 1])
    for bad in ["#1: 1 2", "#1: 1, 2,", "x#1: 1 2,", "#1: inf 2,", "#1: 1e999 2,", "#1: nan 2,"] {
      #expect(text(bad) == nil, "\(bad)")
    }
    #expect(text("#1: \(String(repeating: "9", count: 60)) 2,") == nil)
  }

  @Test("The words of a pattern can have any blanks between them", arguments: ["", " ", "\t  "])
  func wordsOfAPattern(blanks: String) throws {
    let pattern = try #require(TextPattern("my angle {yaw} of {pitch}"))
    let frame = ["my", "angle", "12", "of", "-3"].joined(separator: blanks)
    #expect(pattern.numbers(in: Array(frame.utf8)) == ["yaw": 12, "pitch": -3])
    #expect(pattern.numbers(in: Array("my 12 of -3".utf8)) == nil)
  }
}
