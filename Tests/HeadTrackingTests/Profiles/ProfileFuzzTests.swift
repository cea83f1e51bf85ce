// SPDX-License-Identifier: Apache-2.0

import Geometry
import System
import TestSupport
import Testing

@testable import HeadTracking

/// Feeds mutated streams to the profiles, and mutated profiles to their reader: 2,000 of each, or
/// `STILLSTAGE_FUZZ_INPUTS`. An error stops the process.
@Suite struct ProfileFuzzTests {
  private static let count = FuzzCorpus.requestedCount ?? 2000

  private static func streams() throws -> [(name: String, piece: [UInt8])] {
    func sealed(_ body: [UInt8], from: Int) -> [UInt8] { body + [body[from...].reduce(0, &+)] }
    let rvc = sealed(
      ProfileFixtures.hex("AAAA DE 0100 92FF 2508 8DFE ECFF D103 000000"), from: 2)
    let wit = [UInt8(0x51), 0x52, 0x59].flatMap { kind in
      sealed([0x55, kind] + ProfileFixtures.hex("0040 0020 0010 0058"), from: 0)
    }
    let hatire =
      ProfileFixtures.hex("AAAA 0700") + [UInt8](repeating: 0x3E, count: 24) + [0x55, 0x55]
    return [
      ("nvsonic", Array("0.6035,-0.5409, 0.3667,-0.4568; ".utf8)),
      ("razor", Array("#YPR=-142.28,-5.38,33.52\r\n".utf8)), ("hatire", hatire),
      ("witmotion", wit), ("witmotion-quaternion", wit), ("bno085-rvc", rvc),
      ("quaternion-text", Array("1.0, 0.0, 0, 1e-3\n".utf8)),
    ]
  }

  @Test("Any stream gives unit quaternions at increasing times, in bounded memory")
  func mutatedStreams() throws {
    var generator = SeededGenerator(134)
    for (name, piece) in try Self.streams() {
      let profile = try ProfileFixtures.shipped(name)
      // Without damage, the seed itself is decoded.
      #expect(!Self.run(profile, piece + piece + piece).isEmpty, "\(name)")
      var stream = Stream(profile)
      for _ in 0..<Self.count { stream.take(Self.mutated(piece, &generator)) }
      #expect(stream.readingCount > Self.count / 100, "\(name)")
    }
  }

  @Test("Any profile is refused or can decode anything")
  func mutatedProfiles() throws {
    let names = try #require(SystemFile.names(in: ProfileFixtures.folder)).sorted()
    let texts = try names.map {
      try SystemFile.contents("\(ProfileFixtures.folder)/\($0)", limit: 1 << 16)
    }
    let pieces = try Self.streams().map(\.piece)
    var generator = SeededGenerator(234)
    var valid = 0
    for _ in 0..<Self.count {
      let text = Self.mutated(texts.randomElement(using: &generator) ?? [], &generator)
      let (profile, problems) = ProfileReader.read(text)
      precondition(profile != nil || !problems.isEmpty, "no reason")
      precondition(problems.count <= 101 && problems.allSatisfy { ($0.line ?? 1) >= 1 }, "problems")
      guard let profile else { continue }
      valid += 1
      precondition(profile.problem == nil, "an invalid profile")
      let piece = pieces.randomElement(using: &generator) ?? []
      _ = Self.run(profile, piece + Self.mutated(piece, &generator) + piece)
    }
    #expect(valid > Self.count / 20)
  }

  private static func run(_ profile: TrackerProfile, _ bytes: [UInt8]) -> [TrackerReading] {
    var stream = Stream(profile)
    return stream.take(bytes)
  }

  /// A stream whose results are checked.
  private struct Stream {
    private var splitter: FrameSplitter
    private var stream: ProfileStream
    private let source = HeadPoseSource()
    private var intake: TrackerIntake
    private var now: Int64 = 1_000_000_000
    private var last = Int64.min
    var readingCount = 0

    init(_ profile: TrackerProfile) {
      splitter = FrameSplitter(profile.framing)
      stream = ProfileStream(profile)
      intake = TrackerIntake(sink: source, fusion: .default, record: nil) { _ in }
    }

    @discardableResult
    mutating func take(_ bytes: [UInt8]) -> [TrackerReading] {
      now += 10_000_000
      _ = splitter.take(bytes)
      precondition(splitter.rest.count <= 4096, "memory")
      let readings = stream.decode(bytes, arrival: now).readings
      for reading in readings {
        var time = last
        if case .head(let sample) = reading { time = sample.time }
        if case .inertial(let sample) = reading { time = sample.time }
        precondition(time <= now + 1_000_000, "time")
        last = time
        intake.take(reading)
      }
      let pose = source.pose(at: now, now: now)
      precondition(abs(pose.squaredNorm - 1) < 1e-9, "pose")
      readingCount += readings.count
      return readings
    }
  }

  private static func mutated(_ input: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
    var bytes = input
    for _ in 0..<Int.random(in: 0...6, using: &generator) where !bytes.isEmpty {
      let at = Int.random(in: 0..<bytes.count, using: &generator)
      switch UInt8.random(in: 0...5, using: &generator) {
      case 0: bytes[at] ^= 1 << UInt8.random(in: 0...7, using: &generator)
      case 1: bytes[at] = [0, 0x30, 0x39, 0x55, 0xAA, 0xFF].randomElement(using: &generator) ?? 0
      case 2: bytes.remove(at: at)
      case 3: bytes.insert(.random(in: 0...255, using: &generator), at: at)
      case 4:
        let from = Int.random(in: 0..<bytes.count, using: &generator)
        bytes.insert(contentsOf: bytes[min(at, from)..<max(at, from)].prefix(40), at: at)
      default: bytes.removeLast(min(bytes.count, Int.random(in: 0...4, using: &generator)))
      }
    }
    return bytes
  }
}
