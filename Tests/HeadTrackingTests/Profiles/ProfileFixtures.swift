// SPDX-License-Identifier: Apache-2.0

import Geometry
import System
import TestSupport
import Testing

@testable import HeadTracking

/// The shipped profiles and profiles in tests.
enum ProfileFixtures {
  static let folder =
    #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined() + "/Calibration/trackers"

  static func shipped(_ name: String) throws -> TrackerProfile {
    try read(SystemFile.contents("\(folder)/\(name).json"))
  }

  static func read(_ bytes: [UInt8]) throws -> TrackerProfile {
    let (profile, problems) = ProfileReader.read(bytes)
    #expect(problems == [])
    return try #require(profile)
  }

  static func read(_ text: String) throws -> TrackerProfile { try read(Array(text.utf8)) }

  /// Returns bytes from hexadecimal digits; blanks are ignored.
  static func hex(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue).map(UInt8.init)
    return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  static func heads(_ readings: [TrackerReading]) -> [Quaternion] {
    readings.compactMap { if case .head(let sample) = $0 { sample.headToWorld } else { nil } }
  }

  /// Decodes a stream in one piece.
  static func heads(_ profile: TrackerProfile, _ bytes: [UInt8]) -> [Quaternion] {
    var stream = ProfileStream(profile)
    return heads(stream.decode(bytes, arrival: 1_000_000_000).readings)
  }

  static func degrees(_ a: Quaternion, _ b: Quaternion) -> Double {
    Quaternion.angle(between: a, b) / radiansPerDegree
  }
}
